//===- VerifyAttributes.h - verification of declared attributes -----------===//
//
// Every dialect declares its discardable attributes in a .td file
// (DiscardableAttrs.td). The table below verifies each attribute with the
// prefix of the dialect: its name must be declared, and its place and its value
// must be as declared. Whether shardings or stages of different ops agree is
// verified after each phase of the compiler, not here.
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

/// Kinds of places in a module where an attribute may be. A bitwise or of
/// enumerators is a set of places, such as `Function | Op`.
enum class AttributePlace : uint8_t {
  None = 0,
  Module = 1,
  /// The attribute is on an op with the interface FunctionOpInterface, such as
  /// `func.func` or `rank.kernel`.
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
  /// The op that has the attribute. For an attribute of a function argument or
  /// result, `op` is the function.
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

/// Requirement on the value of an attribute, such as "is a string".
struct AttributeKind {
  /// Noun phrase for the permitted values of an attribute, such as "a string".
  /// Error messages contain the phrase: "needs a string, got 3".
  llvm::StringLiteral needs;
  /// Function that returns whether the given value of an attribute is
  /// permitted. For example, if the attribute must be a string, the function
  /// returns true for "abc" and false for 3.
  bool (*fits)(mlir::Attribute);
  /// Function that checks the value of an attribute against the place of the
  /// attribute. For example, if the value is the index of a dim of a function
  /// argument, the index must be less than the tensor rank of the argument. The
  /// function returns an error text, or nullopt if the value is valid. The
  /// function pointer is null if values need no such check.
  std::optional<std::string> (*check)(const AttributeSite &,
                                      mlir::Attribute) = nullptr;
};

/// Declaration of one attribute of a dialect: the name of the attribute, the
/// kind of its value, and the places where it may be. A place is a module, a
/// function, an argument or a result of a function, an op that is neither a
/// module nor a function, or a location.
struct DeclaredAttribute {
  /// Name of the attribute with the prefix of the dialect, such as
  /// "graph.name".
  llvm::StringLiteral name;
  const AttributeKind &kind;
  /// Set of the places where the attribute may be. For example, the set
  /// `Function | Argument` permits the attribute on functions and on function
  /// arguments.
  AttributePlace places;
  /// Names of single ops that may have the attribute, separated by spaces, such
  /// as "graph.parameter graph.set_parameter". Empty if `places` contains Op,
  /// which permits every op.
  llvm::StringLiteral ops;
};

/// Table of all attributes that one dialect declares.
class AttributeTable {
public:
  /// Adds the attribute declarations `rows` to this table. The table stores
  /// pointers to the declarations, so the array `rows` must outlive the table.
  void declare(mlir::MLIRContext *context,
               llvm::ArrayRef<DeclaredAttribute> rows);

  /// Verifies an attribute of the op `op`. Emits an error and fails unless all
  /// these conditions hold:
  ///
  ///  - This table declares an attribute with the name of `attribute`.
  ///  - The declaration permits the attribute on `op`.
  ///  - The value of `attribute` is of the kind that the declaration requires.
  mlir::LogicalResult verify(mlir::Operation *op,
                             mlir::NamedAttribute attribute) const;
  /// Verifies an attribute of `site`: an op, a function argument or a function
  /// result. Emits an error and fails unless this table declares the attribute,
  /// permits it at `site`, and its value has the declared kind.
  mlir::LogicalResult verify(const AttributeSite &site,
                             mlir::NamedAttribute attribute) const;

private:
  /// Emits the error that `name` is not declared, and fails. The error suggests
  /// the most similar declared name, if one is similar enough.
  mlir::LogicalResult reportUnknown(const AttributeSite &site,
                                    llvm::StringRef name) const;

  /// Rows by name.
  llvm::DenseMap<mlir::StringAttr, const DeclaredAttribute *> rows;
};

/// Kinds of attribute values, in the order of the constants: no value, a
/// string, an array of strings, a symbol, a type, a dictionary, and an array of
/// dictionaries.
extern const AttributeKind unitKind, stringKind, stringsKind, symbolKind,
    typeKind, dictionaryKind, dictionariesKind;
/// Kinds of attribute values, in the order of the constants: any i64, an i64 of
/// at least 0, an i64 from 1 to INT32_MAX, and an array of i64 of at least 0.
extern const AttributeKind numberKind, countKind, positiveKind, countsKind;
/// Kinds of attribute values: a dictionary of i64, and a dictionary of strings.
extern const AttributeKind numbersByNameKind, stringsByNameKind;
/// Kinds of attribute values on a tensor argument or result: the index of a dim
/// of that tensor, and an array with one string per dim of the tensor.
extern const AttributeKind dimKind, dimNamesKind;
/// Requirement on the value of an attribute that is in the metadata of an MLIR
/// location, such as `dist.decisions`. The requirement permits any value.
extern const AttributeKind metadataKind;

/// Returns whether `attribute` is an integer of type i64 whose value is at
/// least `least`.
bool isNumber(mlir::Attribute attribute, int64_t least);

/// Returns an error text unless `actual`, a number of entries, equals `wanted`.
/// For example, countError(2, "result", 1) returns "needs 2 entries, one per
/// result, got 1".
std::optional<std::string> countError(int64_t wanted, llvm::StringRef perWhat,
                                      int64_t actual);

} // namespace pcc

/// Defines the three methods by which MLIR verifies a dialect's discardable
/// attributes. `Dialect` needs a member `attributes` of type AttributeTable.
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
