//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the row that is outer iteration `iteration` of `kernel`: first the
/// statistics of all reducing ops, then the stores of all results. `outputs`
/// are the pointers to the results. Sets `rows`, `outer` and `statistics` of
/// `w`.
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the value with which the reduction `op` of a row begins: 0, 1, or the
/// smallest or largest value of the type.
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
/// Emits one step of the reduction `op`: `so` is the value so far, `element`
/// the next element. The order of floating-point sums and products is fixed if
/// the rows are columns (RowSpace::isByColumns); otherwise LLVM may reassociate
/// them.
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
/// Emits the result of the reduction `op` from the value after the last
/// element: divides the sum of a mean, and returns any other value as it is.
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
