//===- EinsumEquation.h - parsed einsum equations -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
#define PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H

#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// The terms of an einsum equation: "ab,bc->ac" has the operands "ab" and "bc"
/// and the result "ac". The terms point into the text that was parsed, which
/// must outlive them.
struct EinsumEquation {
  /// One term per operand, with one letter per dim.
  llvm::SmallVector<llvm::StringRef> operands;
  llvm::StringRef result;

  /// Parses an equation. Fails unless it has a `->` and every term consists of
  /// letters, none of them twice.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// Returns the size of each letter, given the ranked tensor types of the
  /// operands. Fails if number or ranks of the operands differ from the terms,
  /// if a letter would have two sizes, or if no operand has a letter of the
  /// result.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
