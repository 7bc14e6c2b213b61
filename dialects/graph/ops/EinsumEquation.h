//===- EinsumEquation.h - parsed einsum equations -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
#define PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H

#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// The terms of an einsum equation: "ab" and "bc" for the operands and "ac" for
/// the result of "ab,bc->ac". The terms point into the parsed text, which must
/// outlive this object.
struct EinsumEquation {
  /// Terms of the operands, one per operand. A term is a string with one letter
  /// per dim of the operand. The equation "ab,bc->ac" has the operand terms
  /// "ab" and "bc".
  llvm::SmallVector<llvm::StringRef> operands;
  llvm::StringRef result;

  /// Parses `text`, an einsum equation such as "ab,bc->ac". A term is the list
  /// of the letters of one tensor; this equation has the terms "ab", "bc" and
  /// "ac". Fails if `text` does not contain `->`, or if a term contains a
  /// character that is not a letter, or a letter twice.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// Returns the size of each letter for operands of the types `types`. For
  /// "ab,bc->ac" with the operands [2, 3] and [3, 4], a = 2, b = 3 and c = 4.
  /// Fails if the number or rank of the operands is wrong, if one letter has
  /// two sizes, or if no operand has a letter of the result.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
