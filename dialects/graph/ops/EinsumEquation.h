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
  /// "ac". Fails in these cases:
  /// - `text` does not contain `->`.
  /// - A term contains a character that is not a letter.
  /// - A term contains a letter twice.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// Returns a map from each letter of the equation to the size of all dims
  /// with this letter. `types` are the types of the operands, which are ranked
  /// tensors:
  ///
  ///   "ab,bc->ac" with operands [2, 3] and [3, 4]:  a = 2, b = 3, c = 4
  ///
  /// A term is the list of the letters of one tensor; this equation has the
  /// operand terms "ab" and "bc". Fails in these cases:
  /// - The number of operands differs from the number of operand terms.
  /// - The rank of an operand differs from the number of letters in its term.
  /// - Two dims with the same letter have different sizes.
  /// - The result has a letter that no operand has.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
