//===- FieldCheck.h - check of JSON against a table of its fields ---------===//
//
// A table has one row per field, and a field comes after the field that
// contains it:
//
//     {"world", FieldKind::Whole, 1, 65536},
//     {"stages", FieldKind::List},
//     indexInto("stages.*.ranks.*", "world"),
//
// The names in a path are separated by dots. "*" stands for each entry of a
// list or each member of an object, and a number for the entry with this number
// in a list. Fields that no row names are not checked.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_BUNDLE_FIELDCHECK_H
#define PCC_RUNTIME_PROGRAM_BUNDLE_FIELDCHECK_H

#include "status/Status.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Kind of the value of a field in JSON.
enum class FieldKind {
  Object,
  List,
  Text,
  /// One of the words in `FieldRow::of`, which are separated by spaces.
  Word,
  Flag,
  /// A number of at least 0, which need not be whole.
  Number,
  /// A whole number from `FieldRow::least` to `FieldRow::most`.
  Whole,
  /// A whole number from 0 to before the number of entries of the list
  /// `FieldRow::of`, or to before the number `FieldRow::of`.
  Index
};

/// Row of a table: one field of a JSON document, and its possible values.
struct FieldRow {
  std::string_view path;
  FieldKind kind;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
  /// Words of a field of kind Word. For the kind Index, the name of a list or a
  /// number at the top of the document, whose row must come before.
  std::string_view of = {};
  /// Whether the field may be null. The fields in it are then not checked.
  bool canBeNull = false;
  /// Whether the field may be absent.
  bool canBeAbsent = false;
};

/// Returns the row of a field that has one of `words`, which are separated by
/// spaces.
constexpr FieldRow oneOf(std::string_view path, std::string_view words) {
  return {.path = path, .kind = FieldKind::Word, .of = words};
}

/// Returns the row of a field of kind Index. `of` is the name of the list or
/// number at the top of the document.
constexpr FieldRow indexInto(std::string_view path, std::string_view of) {
  return {.path = path, .kind = FieldKind::Index, .of = of};
}

/// Returns `field`, which can also be null.
constexpr FieldRow orNull(FieldRow field) {
  field.canBeNull = true;
  return field;
}

/// Returns `field`, which can also be absent.
constexpr FieldRow orAbsent(FieldRow field) {
  field.canBeAbsent = true;
  return field;
}

/// A field with a wrong value. `path` is the path of the field, such as
/// "stages[0].ranks[1]". `what` continues a sentence that begins with the path,
/// such as "is null, not a whole number from 0 to 7".
struct FieldFault {
  std::string path;
  std::string what;
};

/// Returns the first fault of `document`, a JSON object, in the order of the
/// rows of `table`. Returns nothing if each field has a possible value.
std::optional<FieldFault> findFault(const nlohmann::ordered_json &document,
                                    std::span<const FieldRow> table);

/// Returns the fault of the field `path` with the value `value`, which is not
/// `expected`, such as "a list". A message shows at most the first characters
/// of a text.
FieldFault faultOf(std::string path, const nlohmann::ordered_json &value,
                   const std::string &expected);

/// Reads the sealed file `file` in the directory `bundle`. Sets `content` to
/// its JSON object, with the seal. Returns an error with exit code 11 if the
/// file is absent, damaged or no JSON object, and 7 if the system refuses
/// access.
Status readSealedObject(const std::string &bundle, const std::string &file,
                        nlohmann::ordered_json &content);

/// Returns an error with exit code 11: `file` in the directory `bundle` has
/// the fault `fault`. A note says how to make a new bundle.
Status damagedField(const std::string &bundle, const std::string &file,
                    const FieldFault &fault);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_BUNDLE_FIELDCHECK_H
