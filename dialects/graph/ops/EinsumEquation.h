//===- EinsumEquation.h - parsed einsum equations -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
#define PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H

#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// The terms of an einsum equation. "ab,bc->ac" has the operand terms "ab" and
/// "bc" and the result term "ac". The terms point into the text that was
/// parsed, which must outlive this object.
struct EinsumEquation {
  /// One term per operand, with one letter per dim.
  llvm::SmallVector<llvm::StringRef> operands;
  llvm::StringRef result;

  /// Parses an equation. Fails unless it has a `->` and every term consists of
  /// letters, none of them twice.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// Returns the size of the dims of each letter. `types` are the types of the
  /// operands, which are ranked tensors. Fails if the number of operands or the
  /// rank of an operand differs from the equation, if two dims of one letter
  /// have different sizes, or if the result has a letter that no operand has.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
