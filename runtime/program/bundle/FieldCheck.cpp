//===- FieldCheck.cpp - check of JSON against a table of its fields -------===//

#include "runtime/program/bundle/FieldCheck.h"
#include "runtime/program/Seal.h"
#include "status/PrintableText.h"
#include "status/ShellWord.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

/// Returns a short text for a wrong value, such as "null", "-1" or "a list".
static std::string shownValue(const Json &value) {
  constexpr size_t mostBytes = 40;
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "a list of " + std::to_string(value.size());
  if (!value.is_string())
    return value.dump();
  const auto &text = value.get_ref<const std::string &>();
  return "'" + printable(text.substr(0, mostBytes)) +
         (text.size() > mostBytes ? "…'" : "'");
}

FieldFault faultOf(std::string path, const Json &value,
                   const std::string &expected) {
  return {std::move(path), "is " + shownValue(value) + ", not " + expected};
}

Status readSealedObject(const std::string &bundle, const std::string &file,
                        Json &content) {
  const std::string path = bundle + "/" + file;
  std::string text;
  PCC_RETURN_IF_ERROR(readSealedJson(path, text));
  content = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return content.is_object()
             ? Status::success()
             : Status::error(DamagedBundle, "'" + path +
                                                "' is damaged: it is no JSON "
                                                "object");
}

Status damagedField(const std::string &bundle, const std::string &file,
                    const FieldFault &fault) {
  return Status::error(
      DamagedBundle,
      "'" + bundle + "/" + file + "' is damaged: its field '" +
          printable(fault.path) + "' " + fault.what,
      {"compile the model again: pcc MODEL -o " + shellWord(bundle)});
}

/// Returns whether `value` is a whole number from `least` to `most`.
static bool isWhole(const Json &value, int64_t least, int64_t most) {
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return false;
  return value.is_number_integer() && value.get<int64_t>() >= least &&
         value.get<int64_t>() <= most;
}

/// Returns whether `words`, which are separated by spaces, contain `word`.
static bool hasWord(std::string_view words, const std::string &word) {
  return !word.empty() && word.find(' ') == std::string::npos &&
         (" " + std::string(words) + " ").find(" " + word + " ") !=
             std::string::npos;
}

namespace {
/// Checks the values of one field, of which a document with lists can have
/// many.
class FieldCheck {
public:
  FieldCheck(const Json &document, const FieldRow &field)
      : field(field), most(field.most) {
    if (field.kind != FieldKind::Index)
      return;
    const Json &counted = document.at(field.of);
    most = counted.is_array() ? int64_t(counted.size()) - 1
                              : counted.get<int64_t>() - 1;
  }

  /// Checks the fields below `value` to which the path `rest` leads. The path
  /// of a fault begins below `value`, too.
  std::optional<FieldFault> check(const Json &value,
                                  std::string_view rest) const {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view name = rest.substr(0, dot);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
    if (name == "*")
      return checkAll(value, rest);
    if (value.is_null())
      return std::nullopt;
    if (value.is_array())
      return checkEntry(value, name, rest);
    const auto member = value.find(name);
    if (member == value.end())
      return field.canBeAbsent ? std::nullopt : absent(std::string(name));
    return inMember(std::string(name), checkOne(*member, rest));
  }

private:
  /// Checks `value` itself if `rest` is empty, or the fields below it.
  std::optional<FieldFault> checkOne(const Json &value,
                                     std::string_view rest) const {
    if (!rest.empty())
      return check(value, rest);
    if (isPossible(value) || (field.canBeNull && value.is_null()))
      return std::nullopt;
    return faultOf("", value, expected());
  }

  /// Checks each entry of a list, or each member of an object.
  std::optional<FieldFault> checkAll(const Json &value,
                                     std::string_view rest) const {
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i)
        if (auto fault = checkOne(value[i], rest))
          return inEntry(std::to_string(i), std::move(fault));
    } else if (value.is_object()) {
      for (const auto &[name, member] : value.items())
        if (auto fault = checkOne(member, rest))
          return inMember(name, std::move(fault));
    }
    return std::nullopt;
  }

  /// Checks the entry number `name` of a list.
  std::optional<FieldFault> checkEntry(const Json &list, std::string_view name,
                                       std::string_view rest) const {
    size_t index = 0;
    std::from_chars(name.data(), name.data() + name.size(), index);
    if (index >= list.size())
      return absent("[" + std::string(name) + "]");
    return inEntry(std::string(name), checkOne(list[index], rest));
  }

  std::optional<FieldFault> absent(std::string path) const {
    return FieldFault{std::move(path), "is absent; it should be " + expected()};
  }

  static std::optional<FieldFault> inMember(const std::string &name,
                                            std::optional<FieldFault> fault) {
    if (fault) {
      const bool isLast = fault->path.empty() || fault->path.front() == '[';
      fault->path = name + (isLast ? "" : ".") + fault->path;
    }
    return fault;
  }

  static std::optional<FieldFault> inEntry(const std::string &index,
                                           std::optional<FieldFault> fault) {
    return inMember("[" + index + "]", std::move(fault));
  }

  bool isPossible(const Json &value) const {
    switch (field.kind) {
    case FieldKind::Object:
      return value.is_object();
    case FieldKind::List:
      return value.is_array();
    case FieldKind::Text:
      return value.is_string();
    case FieldKind::Word:
      return value.is_string() && hasWord(field.of, value.get<std::string>());
    case FieldKind::Flag:
      return value.is_boolean();
    case FieldKind::Number:
      return value.is_number() && value.get<double>() >= 0;
    case FieldKind::Whole:
    case FieldKind::Index:
      return isWhole(value, field.least, most);
    }
    return false;
  }

  /// Returns the possible values as text, such as "a list".
  std::string expected() const {
    const std::string end = field.canBeNull ? " or null" : "";
    switch (field.kind) {
    case FieldKind::Object:
      return "an object" + end;
    case FieldKind::List:
      return "a list" + end;
    case FieldKind::Text:
      return "a text" + end;
    case FieldKind::Word:
      return "one of the words " + std::string(field.of) + end;
    case FieldKind::Flag:
      return "true or false" + end;
    case FieldKind::Number:
      return "a number of at least 0" + end;
    case FieldKind::Whole:
    case FieldKind::Index:
      return "a whole number " + rangeText() + end;
    }
    return "";
  }

  /// Returns the range of a whole number, such as "from 0 to 7".
  std::string rangeText() const {
    const std::string least = std::to_string(field.least);
    return most == std::numeric_limits<int64_t>::max()
               ? "of at least " + least
               : "from " + least + " to " + std::to_string(most);
  }

  const FieldRow &field;
  int64_t most;
};
} // namespace

std::optional<FieldFault> findFault(const Json &document,
                                    std::span<const FieldRow> table) {
  for (const FieldRow &field : table)
    if (auto fault = FieldCheck(document, field).check(document, field.path))
      return fault;
  return std::nullopt;
}

} // namespace pcc::runtime
