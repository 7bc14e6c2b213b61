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

/// Emits the attention score of one query and one key, and the derivative of
/// the score with respect to `product`. `product` is the dot product of the
/// query and the key. The score is `product` after the scale, the softcap and
/// the masks of the attention `op`. `row` is the multi-index [batch, head,
/// query] of the query. `key` is the index of the key.
///
/// `isThere` is a boolean SSA value. If `isThere` is false at run time, the
/// score is −∞. A GPU kernel needs `isThere` because the kernel processes keys
/// or queries in tiles of a fixed size. Example: with 100 keys and tiles of 64
/// keys, the second tile has 28 positions without a key. For these positions,
/// `isThere` is false. A null `isThere` means that the query and the key exist.
Score scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
              mlir::Value product, llvm::ArrayRef<Index> row, const Index &key,
              mlir::Value isThere = {});

/// Emits exp(score − top), the weight of a key before normalization. `score` is
/// the attention score of one query and the key. `top` is the largest score of
/// the query. In a loop over keys, `top` is the largest score so far. If `top`
/// is −∞, all keys so far are masked. The function then emits 0, because the
/// difference −∞ − (−∞) would be NaN.
///
/// In an online softmax, the largest score can grow during the loop, from an
/// old value to a new value. The weights in earlier sums are then too large. To
/// correct an earlier sum, the caller multiplies the sum by exp(old − new). The
/// call weightOf(w, old, new) emits this factor.
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// Emits 1 / total. `total` is the sum of the weights of all keys for one
/// query. A weight times 1 / total is the softmax probability of the key. If
/// all keys are masked, `total` is 0. The function then emits 0 rather than
/// infinity.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
