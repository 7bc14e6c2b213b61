//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the computation of row number `iteration` of a kernel with reductions.
/// A row is a set of elements that are reduced together. First emits the values
/// that depend on the whole row, such as a sum. Then emits the stores of all
/// results to the pointers `outputs`. Sets `rows`, `outer` and `statistics` of
/// `w`, which describe the row.
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the initial value of the reduction `op`:
///
///   sum, mean   0
///   product     1
///   maximum     smallest value of the type
///   minimum     largest value of the type
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
/// Emits one step of the reduction `op`: combines `so`, the value so far, with
/// `element`. LLVM may change the order of float sums and products. An
/// exception are reductions over columns, which keep their order.
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
/// Emits the result of the reduction `op` from `value`, the combination of all
/// elements. For a mean, divides `value` by the `divisor` of `op`, or by the
/// number of elements. For all other kinds, `value` is the result.
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
