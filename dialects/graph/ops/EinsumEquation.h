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
  /// Terms of the operands, in order, with one letter per dim.
  llvm::SmallVector<llvm::StringRef> operands;
  llvm::StringRef result;

  /// Parses the equation in `text`, such as "ab,bc->ac". Fails unless `text`
  /// contains `->` and each term consists of distinct letters.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// Returns a map from each letter of the equation to the size of its dims.
  /// `types` are the types of the operands, which are ranked tensors. Fails in
  /// these cases:
  /// - The number of operands differs from the number of operand terms.
  /// - The rank of an operand differs from the length of its term.
  /// - Two dims with the same letter have different sizes.
  /// - The result has a letter that no operand has.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
