//===- FusedAttention.h - attention that a fused GPU kernel can compute ---===//

#ifndef PCC_DIALECTS_GRAPH_FUSEDATTENTION_H
#define PCC_DIALECTS_GRAPH_FUSEDATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns whether the fused GPU kernel (as in FlashAttention, Dao et al. 2022)
/// can compute `op`, an attention or one of its gradients. Query, key and value
/// must not be empty and must have one element type: f32, bf16 or f16. Their
/// last dim may have at most 128 elements, so that a row fits into registers.
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
