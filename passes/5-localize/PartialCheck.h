//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks that each pending reduction in `function` ends once, before a
/// nonlinear op reads the value, and that a mean divides by the number of
/// elements on all ranks. sum(tp) is pending if each rank along tp holds one
/// addend. Skips values without a sharding. Emits an error and fails if a check
/// fails. Example:
///
///   y = matmul [-, 64@tp], [64@tp, -]   tp splits the 64: sum(tp) begins
///   r = relu y                          error: not linear
///   s = all_reduce y                    sum(tp) ends
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
