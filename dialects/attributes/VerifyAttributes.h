//===- VerifyAttributes.h - verification of declared attributes -----------===//
//
// Every dialect declares its discardable attributes in a .td file
// (DiscardableAttrs.td). The table verifies an attribute of the dialect's
// prefix wherever one stands: its name must be declared, and its place and its
// value must be as declared. Whether shardings or stages make sense together is
// left to the gates of the phases.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_ATTRIBUTES_VERIFYATTRIBUTES_H
#define PCC_DIALECTS_ATTRIBUTES_VERIFYATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/BitmaskEnum.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace pcc {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

/// Kinds of places in a module where an attribute may be. The bitwise or of
/// several enumerators is a set of kinds.
enum class AttributePlace : uint8_t {
  None = 0,
  Module = 1,
  /// The attribute is on a function or on a kernel (`rank.kernel`).
  Function = 2,
  /// The attribute is on an op that is neither a module nor a function.
  Op = 4,
  /// The attribute is on an argument of a function.
  Argument = 8,
  Result = 16,
  /// The attribute is in the metadata of a fused location. MLIR calls no
  /// verifier for such attributes.
  Location = 32,
  LLVM_MARK_AS_BITMASK_ENUM(Location)
};

/// The place of one attribute in a module: on an op, or on an argument or
/// result of a function.
struct AttributeSite {
  /// The op that has the attribute. If an argument or result of a function has
  /// the attribute, the function.
  mlir::Operation *op;
  /// One place.
  AttributePlace place;
  /// Index of the function argument or result that has the attribute. Unused if
  /// an op has the attribute.
  unsigned index = 0;

  /// Returns the type of the function argument or result that has the
  /// attribute. Returns null if the type is no ranked tensor, or if an op has
  /// the attribute.
  mlir::RankedTensorType tensorType() const;
};

/// A kind of values that an attribute may be declared to have, such as strings.
struct AttributeKind {
  /// Noun phrase for the values of this kind, such as "a string". Error
  /// messages use it: "needs a string, got 3".
  llvm::StringLiteral needs;
  /// Returns whether the value of an attribute is of this kind. Does not depend
  /// on the place of the attribute.
  bool (*fits)(mlir::Attribute);
  /// Checks the value of an attribute against the place of the attribute. The
  /// value must satisfy `fits`. For example, the index of a dim must be less
  /// than the rank of the tensor. Returns the text of the error, or nullopt if
  /// the value is valid. The pointer is null if the kind needs no such check.
  std::optional<std::string> (*check)(const AttributeSite &,
                                      mlir::Attribute) = nullptr;
};

/// The declaration of one attribute of a dialect: its name, the kind of its
/// value, and the places where it may be.
struct DeclaredAttribute {
  /// Name of the attribute with the prefix of the dialect, such as
  /// "graph.name".
  llvm::StringLiteral name;
  const AttributeKind &kind;
  /// Set of the places where the attribute may be: the bitwise or of
  /// enumerators.
  AttributePlace places;
  /// Names of further ops that may have the attribute, separated by spaces,
  /// such as "graph.parameter". Empty if there are none. Used for attributes
  /// that only some ops may have; `places` then lacks AttributePlace::Op.
  llvm::StringLiteral ops;
};

/// Table of all attributes that one dialect declares.
class AttributeTable {
public:
  /// Adds `rows` to the table. The table keeps pointers to the rows, which must
  /// therefore live until the program ends.
  void declare(mlir::MLIRContext *context,
               llvm::ArrayRef<DeclaredAttribute> rows);

  /// Emits an error and fails unless `attribute` is declared, may be on `op`,
  /// and has a value of the declared kind.
  mlir::LogicalResult verify(mlir::Operation *op,
                             mlir::NamedAttribute attribute) const;
  /// Emits an error and fails unless `attribute` is declared, may be at `site`,
  /// and has a value of the declared kind.
  mlir::LogicalResult verify(const AttributeSite &site,
                             mlir::NamedAttribute attribute) const;

private:
  /// Emits the error that no attribute `name` is declared, and fails. The error
  /// suggests the declared name with the smallest edit distance, if one is
  /// near.
  mlir::LogicalResult reportUnknown(const AttributeSite &site,
                                    llvm::StringRef name) const;

  /// Rows by name.
  llvm::DenseMap<mlir::StringAttr, const DeclaredAttribute *> rows;
};

/// Kinds of attribute values: no value, a string, an array of strings, a
/// symbol, a type, a dictionary, and an array of dictionaries.
extern const AttributeKind unitKind, stringKind, stringsKind, symbolKind,
    typeKind, dictionaryKind, dictionariesKind;
/// Kinds of attribute values: any i64, an i64 of at least 0, an i64 from 1 to
/// INT32_MAX, and an array of i64 of at least 0.
extern const AttributeKind numberKind, countKind, positiveKind, countsKind;
/// Kinds of attribute values: a dictionary of i64, and a dictionary of strings.
extern const AttributeKind numbersByNameKind, stringsByNameKind;
/// Kinds of attribute values on a tensor argument or result: the index of one
/// of its dims, and an array with one string per dim.
extern const AttributeKind dimKind, dimNamesKind;
/// Kind of attribute values that accepts any value. For metadata of locations,
/// which are not verified.
extern const AttributeKind metadataKind;

/// Returns whether `attribute` is an integer of type i64 whose value is at
/// least `least`.
bool isNumber(mlir::Attribute attribute, int64_t least);

/// Returns the text of an error if `actual` differs from `wanted`, such as
/// "needs 2 entries, one per result, got 1". Returns nullopt if both are equal.
/// `perWhat` is the noun after "one per".
std::optional<std::string> countError(int64_t wanted, llvm::StringRef perWhat,
                                      int64_t actual);

} // namespace pcc

/// Defines the three methods of a dialect by which MLIR verifies discardable
/// attributes: on ops, on function arguments and on function results. The
/// dialect needs a member `attributes` of type AttributeTable.
#define PCC_VERIFY_ATTRIBUTES(Dialect)                                         \
  LogicalResult Dialect::verifyOperationAttribute(Operation *op,               \
                                                  NamedAttribute attribute) {  \
    return attributes.verify(op, attribute);                                   \
  }                                                                            \
  LogicalResult Dialect::verifyRegionArgAttribute(                             \
      Operation *op, unsigned, unsigned index, NamedAttribute attribute) {     \
    return attributes.verify({op, pcc::AttributePlace::Argument, index},       \
                             attribute);                                       \
  }                                                                            \
  LogicalResult Dialect::verifyRegionResultAttribute(                          \
      Operation *op, unsigned, unsigned index, NamedAttribute attribute) {     \
    return attributes.verify({op, pcc::AttributePlace::Result, index},         \
                             attribute);                                       \
  }

#endif // PCC_DIALECTS_ATTRIBUTES_VERIFYATTRIBUTES_H
