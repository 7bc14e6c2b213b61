//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the computation of one row of `kernel`, which contains reductions. A
/// row is a set of elements that are reduced together. The code first computes
/// the values that depend on the whole row, such as its sum. The code then
/// stores the results of the row to `outputs`, one pointer per result of
/// `kernel`. Sets `w.rows`, `w.outer` and `w.statistics`.
///
/// `iteration` is the number of the row, counted from 0. Example: in a
/// reduction of [8, 16, 32] over dim 2, row 55 = 3 · 16 + 7 has the elements
/// [3, 7, 0] to [3, 7, 31].
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the value with which a loop begins that computes the reduction `op`.
/// Example: a loop that computes a sum begins with 0, and adds one element
/// after another. The result for each kind of reduction and element type:
///
///   reduction   floats   integers
///   sum, mean   0        0
///   product     1        1
///   maximum     −∞       smallest integer of the type
///   minimum     ∞        largest integer of the type
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
/// Emits one step of the reduction `op`, which combines the value `so` with
/// `element`. In a sum, `so` is the sum of the previous elements, and the step
/// adds `element` to `so`.
///
/// In a float sum or product, LLVM may change the order of the steps. An
/// exception: LLVM must keep the order if the last dim of the reduced tensor
/// has at least 8 elements and is not among the dims that `op` reduces.
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
/// Emits the result of the reduction `op` for one row. A row is a set of
/// elements that are reduced together. `value` is the combination of all
/// elements of the row: the sum for a sum or a mean, and the maximum for a
/// maximum.
///
/// For a mean, the result is `value` divided by the `divisor` of `op`. Without
/// a `divisor`, `value` is divided by the number of elements in the row. For
/// all other reductions, `value` is the result.
///
/// Example of a `divisor`: the mean of 100 elements, 50 on each of two ranks.
/// Each rank adds up its 50 elements and divides by the `divisor` 100. The sum
/// of both results is the mean.
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
