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

/// Emits the score of one query and one key. Applies the scale, softcap and
/// masks of `op` to `product`, their dot product. `row` is [batch, head,
/// query], and `key` the index of the key.
///
/// If the i1 `isThere` is false (padding of a tile), the score is −∞. A null
/// `isThere` means true.
Score scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
              mlir::Value product, llvm::ArrayRef<Index> row, const Index &key,
              mlir::Value isThere = {});

/// Emits exp(score − top), the weight of a key before normalization. `score` is
/// the attention score of one query and the key. `top` is the largest score of
/// the query. In a loop over keys, `top` is the largest score so far. If `top`
/// is −∞, all keys so far are masked. The function then emits 0, because the
/// difference −∞ − (−∞) would be NaN.
///
/// In an online softmax, `top` grows during the loop. For the old value of
/// `top` as `score`, the function emits the factor that corrects earlier sums
/// of weights.
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// Emits 1 / total. `total` is the sum of the weights of all keys for one
/// query. A weight times 1 / total is the softmax probability of the key. If
/// all keys are masked, `total` is 0. The function then emits 0 rather than
/// infinity.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
