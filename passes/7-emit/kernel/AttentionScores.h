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

/// Score of one query and one key.
struct Score {
  /// The scaled, softcapped and masked dot product; −∞ where the query does not
  /// see the key.
  mlir::Value value;
  /// Derivative of the score by the dot product: the scale, times the slope of
  /// the softcap.
  mlir::Value slope;
};

/// Emits the score that `op` derives from `product`, the dot product of a query
/// and a key. `row` is the multi-index [batch, head, query] and `key` the index
/// of the key. `isThere` is an i1 that is false where the query or the key is
/// padding of a tile; null if there is no padding.
Score scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
              mlir::Value product, llvm::ArrayRef<Index> row, const Index &key,
              mlir::Value isThere = {});

/// Emits exp(score − top), where `top` is the largest score of the row or of
/// the keys so far. Gives 0 where `top` is −∞ since no key was seen.
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// Emits 1 / total, where `total` is the sum of a row's weights. Gives 0 where
/// `total` is 0 since no key was seen.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
