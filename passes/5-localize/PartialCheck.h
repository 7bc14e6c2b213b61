//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks the pending reductions of all values: for example, a nonlinear op
/// must not read a partial sum. Also checks that a mean divides by the global
/// number of elements. Emits an error and fails if a check fails. Skips values
/// without a sharding.
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
