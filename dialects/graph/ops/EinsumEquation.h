//===- EinsumEquation.h - einsum equations --------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
#define PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H

#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// "ab,bc->ac" taken apart; the parts view the text that was parsed.
struct EinsumEquation {
  llvm::SmallVector<llvm::StringRef> operands;
  llvm::StringRef result;

  /// Fails unless every term is letters without repetition.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text);
  /// The size of each letter; fails if operands contradict each other or the
  /// result names an unknown letter.
  llvm::FailureOr<llvm::SmallDenseMap<char, int64_t>>
  sizes(mlir::TypeRange types) const;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_EINSUMEQUATION_H
