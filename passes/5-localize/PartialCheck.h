//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks that every partial value of `function` is reduced exactly once before
/// a nonlinear use. The type of a value is the list of reductions that it still
/// needs: their axes and kinds. A reduction begins where an op reduces a dim
/// that ranks split. It passes through ops that are linear in the operand, and
/// ends in the collective that performs it:
///
///   y = matmul [-, 64@tp], [64@tp, -]        partial sum(tp)
///   z = transpose y                          partial sum(tp): linear
///   r = relu z                               an error: not linear
///   s = all_reduce z                         whole
///
/// Also checks that a mean over split dims divides by the global number of
/// elements. Values without a sharding, which this phase has created, may have
/// any type; their readers are checked against the shardings of the readers'
/// own results. Emits a diagnostic at the first error and fails.
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
