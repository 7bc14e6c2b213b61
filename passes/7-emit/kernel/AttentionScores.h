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

/// Emits the weight exp(score − top) of a key. `top` is the largest score of
/// the row so far. If `top` is −∞ (all keys are masked), emits 0 rather than
/// NaN.
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// Emits 1 / total, which normalizes the weights of a row. `total` is their
/// sum. If `total` is 0 (all keys are masked), emits 0 rather than infinity.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
