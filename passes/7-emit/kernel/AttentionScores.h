//===- AttentionScores.h - scores of attention in kernels -----------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
#define PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

struct Score {
  /// −∞ where the query does not see the key.
  mlir::Value value;
  /// What it grows by with the product of both.
  mlir::Value slope;
};

/// What becomes of the product of a query, whose `row` is its batch, head and
/// number, and key number `key`. If `isThere` is not null it says whether there
/// are such.
Score scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
              mlir::Value product, llvm::ArrayRef<Index> row, const Index &key,
              mlir::Value isThere = {});

/// exp(score − top); 0 where `top` is −∞: no key was seen.
mlir::Value weightOf(KernelWriter &w, mlir::Value score, mlir::Value top);

/// 1 / total, or 0 where no key was seen.
mlir::Value inverseTotalOf(KernelWriter &w, mlir::Value total);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ATTENTIONSCORES_H
