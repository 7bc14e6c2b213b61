//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration (unit of work) of a kernel with reductions: it
/// computes row number `iteration`. A row is a set of elements that are reduced
/// to one. First emits the statistics (sum, maximum, ...) of all reducing ops,
/// then the stores of all results. `outputs` are the pointers to the results.
/// Sets `rows`, `outer` and `statistics` of `w`.
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the value with which the reduction `op` starts: 0 for a sum or mean, 1
/// for a product, the smallest value of the type for a maximum, the largest
/// value for a minimum.
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
/// Emits one step of the reduction `op`: combines `so`, the value so far, with
/// the next element. If the kernel reduces columns of a tensor
/// (RowSpace::isByColumns), sums and products of floats keep the order of the
/// elements. Otherwise LLVM may reassociate them.
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
/// Emits the result of the reduction `op` from `value`, the value after the
/// last step. For a mean, divides `value` by the number of elements or by the
/// `divisor` of `op`. For other reductions, returns `value`.
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
