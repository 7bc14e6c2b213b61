//===- FusedAttention.h - attention that a GPU has a kernel for -----------===//

#ifndef PCC_DIALECTS_GRAPH_FUSEDATTENTION_H
#define PCC_DIALECTS_GRAPH_FUSEDATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Whether a GPU's kernel computes `op` as a whole: of elements that warps
/// multiply, all of one type, and whose rows fit into registers. There are
/// some.
inline bool fitsFusedKernel(AttentionOpInterface op) {
  constexpr int64_t longestRow = 128;
  const mlir::Type element = tensorType(op.getQuery()).getElementType();
  auto fits = [&](mlir::Value rows) {
    const mlir::RankedTensorType type = tensorType(rows);
    return type.getElementType() == element && type.getNumElements() > 0 &&
           type.getDimSize(3) <= longestRow;
  };
  return (element.isF32() || element.isBF16() || element.isF16()) &&
         fits(op.getQuery()) && fits(op.getKey()) && fits(op.getValue());
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_FUSEDATTENTION_H
