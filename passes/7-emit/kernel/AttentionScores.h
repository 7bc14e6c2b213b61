//===- AttentionScores.h - attention scores and softmax weights -----------===//
//
// Code of single scores and weights, which the fused GPU kernels
// (gpu/kernel/FusedAttention.h) and the element-by-element code of processors
// have in common.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
#define PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Attention score of one query and one key. Its members are SSA values.
struct Score {
  /// Dot product of query and key, after scale, softcap and mask. −∞ if the
  /// mask hides the key.
  mlir::Value value;
  /// Derivative of the score with respect to the dot product of query and key.
  /// Equals the scale times the derivative of the softcap.
  mlir::Value slope;
};

/// Emits the score of the query at `row` = [batch, head, query] and key `key`.
/// `product` is their dot product. The scale, softcap and masks of `op` are
/// applied. If the i1 `isThere` is false at run time, the score is −∞. This is
/// the case if a GPU tile extends beyond the last key, and `key` is in this
/// part of the tile.
Score scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
              mlir::Value product, llvm::ArrayRef<Index> row, const Index &key,
              mlir::Value isThere = {});

/// Emits exp(score − top), the weight of a key before normalization. `top` is
/// the largest score of the query so far. If `top` is −∞, the weight is 0, not
/// NaN. If the largest score grows from `old` to `new`, multiply earlier sums
/// of weights by weightOf(w, old, new).
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// Emits 1 / total. `total` is the sum of the weights of all keys for one
/// query. A weight times 1 / total is the softmax probability of the key. If
/// all keys are masked, `total` is 0. The function then emits 0 rather than
/// infinity.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
