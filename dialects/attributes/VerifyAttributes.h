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

/// Places where an attribute may stand; a set of them is a union of bits.
enum class AttributePlace : uint8_t {
  None = 0,
  Module = 1,
  /// A function, kernels included.
  Function = 2,
  /// Any op other than modules and functions.
  Op = 4,
  /// An argument or a result of a function.
  Argument = 8,
  Result = 16,
  /// Metadata of a fused location, which no verifier sees.
  Location = 32,
  LLVM_MARK_AS_BITMASK_ENUM(Location)
};

/// The place of one attribute.
struct AttributeSite {
  /// The op, or the function whose argument or result has the attribute.
  mlir::Operation *op;
  /// One place.
  AttributePlace place;
  /// Index of the argument or result.
  unsigned index = 0;

  /// Returns the tensor type of the argument or result. Null if it has another
  /// type, or if the site is neither.
  mlir::RankedTensorType tensorType() const;
};

/// A kind of attribute values.
struct AttributeKind {
  /// Noun phrase for messages, such as "a string".
  llvm::StringLiteral needs;
  /// Returns whether a value is of the kind, wherever it stands.
  bool (*fits)(mlir::Attribute);
  /// Checks a value that fits against its place: numbers of entries, ranges of
  /// indices. Returns the error, or nullopt. Null if nothing is left to check.
  std::optional<std::string> (*check)(const AttributeSite &,
                                      mlir::Attribute) = nullptr;
};

/// One row of a table: a declared attribute.
struct DeclaredAttribute {
  /// Full name, with the prefix of the dialect.
  llvm::StringLiteral name;
  const AttributeKind &kind;
  /// Union of all places.
  AttributePlace places;
  /// If not empty, the names of the only ops that may have the attribute,
  /// separated by spaces.
  llvm::StringLiteral ops;
};

/// The declared attributes of one dialect.
class AttributeTable {
public:
  /// Adds the rows, which must live as long as the program.
  void declare(mlir::MLIRContext *context,
               llvm::ArrayRef<DeclaredAttribute> rows);

  /// Verifies an attribute of an op.
  mlir::LogicalResult verify(mlir::Operation *op,
                             mlir::NamedAttribute attribute) const;
  /// Verifies an attribute of an argument or result of a function.
  mlir::LogicalResult verify(const AttributeSite &site,
                             mlir::NamedAttribute attribute) const;

private:
  /// Reports an attribute that is not declared, with the nearest declared name.
  mlir::LogicalResult reportUnknown(const AttributeSite &site,
                                    llvm::StringRef name) const;

  /// Rows by name.
  llvm::DenseMap<mlir::StringAttr, const DeclaredAttribute *> rows;
};

/// Kinds that all dialects share. Numbers are signless i64.
extern const AttributeKind unitKind, stringKind, stringsKind, symbolKind,
    typeKind, dictionaryKind, dictionariesKind;
/// Any number, one of at least 0, one of at least 1, and an array of numbers of
/// at least 0.
extern const AttributeKind numberKind, countKind, positiveKind, countsKind;
/// Dictionaries of numbers or strings.
extern const AttributeKind numbersByNameKind, stringsByNameKind;
/// The index of a dim of the argument or result, and a string for each dim.
extern const AttributeKind dimKind, dimNamesKind;
/// Anything, for metadata of locations.
extern const AttributeKind metadataKind;

/// Returns whether `attribute` is a signless i64 of at least `least`.
bool isNumber(mlir::Attribute attribute, int64_t least);

/// Returns text such as "needs 2 entries, one per result, got 1" if `actual`
/// differs from `wanted`; nullopt otherwise.
std::optional<std::string> countError(int64_t wanted, llvm::StringRef perWhat,
                                      int64_t actual);

} // namespace pcc

/// Defines the three hooks by which MLIR verifies discardable attributes, for a
/// dialect with an AttributeTable called `attributes`.
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
