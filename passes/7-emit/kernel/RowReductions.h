//===- RowReductions.h - reductions, softmaxes and norms of a row ---------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the computation of one row of `kernel`, which has reductions. A row is
/// a set of elements that are reduced together. First emits the values that
/// depend on all elements of the row, such as a sum. Then emits the stores of
/// the results.
///
///   - `plan` is the loop nest of `kernel`.
///   - `outputs` are the pointers to the memory of the results.
///   - `iteration` is the number of the row.
///
/// Sets three fields of `w`. Example: the sum of an [8, 16, 32] tensor over dim
/// 2. Row number 55 = 3 · 16 + 7 has the 32 elements [3, 7, 0] to [3, 7, 31].
///
///   field        meaning                                     example
///   rows         dims that are reduced, and all other dims   [2] and [0, 1]
///   outer        indices of the row along the other dims     [3, 7]
///   statistics   values that depend on the whole row         the sum
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// Emits the initial value of the reduction `op`:
///
///   sum, mean   0
///   product     1
///   maximum     smallest value of the type
///   minimum     largest value of the type
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
