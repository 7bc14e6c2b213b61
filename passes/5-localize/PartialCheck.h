//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sharding/SubAxis.h"

namespace pcc::localize {

/// Checks the pending reductions of all values: for example, a nonlinear op
/// must not read a partial sum. Also checks that a mean divides by the global
/// number of elements. Emits an error and fails if a check fails. Skips values
/// without a sharding.
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

/// Returns whether `axis`, or a part of it, splits the output channels of the
/// convolution `op`, or the key heads of the `attention_key_gradient` `op`. The
/// op may then need no reduction over `axis`, even if `axis` also splits a loop
/// dim over which the op sums. For example, each rank holds some groups of a
/// grouped convolution. It then computes complete output channels of its
/// groups, not addends.
bool dividesGroups(mlir::Operation *op, const dist::SubAxis &axis);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
