//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks the pending reductions over ranks in `function`. For example, sum(tp)
/// is pending for a value if each rank along the mesh axis tp holds one addend
/// of the value. Ranks must perform each reduction exactly once, before a
/// nonlinear op reads the value. Emits an error and fails if they do not. The
/// rules are:
///
/// - A reduction begins in an op that reduces a dim that ranks split.
/// - If an op is linear in an operand, the pending reductions of the operand
///   are also pending for the result.
/// - A reduction ends in the collective that performs the reduction.
/// - The sharding of a value lists the pending reductions of the value. If a
///   value has no sharding, its pending reductions are not known. The check
///   emits no error for such a value.
/// - A mean divides a sum by a number of elements. If ranks split the dims of
///   the mean, this number must be the number of elements on all ranks
///   together. The number of elements on one rank would be wrong.
///
/// In this example, 64@tp is a dim of 64 elements that tp splits, and - is a
/// dim that no axis splits:
///
///   y = matmul [-, 64@tp], [64@tp, -]        sum(tp) begins
///   z = transpose y                          sum(tp) is pending: linear
///   r = relu z                               an error: not linear
///   s = all_reduce z                         no reduction is pending
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
