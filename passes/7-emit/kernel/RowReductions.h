//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the computation of one row (elements reduced together) of `kernel`,
/// which contains reductions. `iteration` is the number of the row, counted
/// from 0. Stores the results to `outputs`, one pointer per result of `kernel`.
/// Also sets the members of `w` that describe the row: `rows` (reduced shape),
/// `outer` (indices of the row) and `statistics` (results of the reductions).
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the neutral element of the reduction `op`: 0 for a sum or a mean, and
/// 1 for a product. For a maximum of floats it is −∞, and for a minimum ∞. For
/// integers it is the smallest or largest integer of the type.
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
/// Emits one step of the reduction `op`: combines `element` with `so`, the
/// result for the previous elements. LLVM may reorder the steps of a float sum
/// or product, except in reductions by columns (RowSpace::isByColumns()).
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
/// Emits the result of the reduction `op` from `value`, the combination of all
/// elements of a row. Divides a mean by the `divisor` of `op`, or else by the
/// number of elements in the row. If ranks share a row, the `divisor` counts
/// the elements on all ranks.
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
