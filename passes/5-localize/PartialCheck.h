//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks that every partial value of `function`, which still has to be reduced
/// over ranks, is reduced exactly once before a nonlinear op reads it. The
/// check resembles a type check. The type of a value is the list of reductions
/// that it still needs, each with axis and kind:
///
/// - A reduction begins where an op reduces a dim that ranks split.
/// - It passes through ops that are linear in the operand.
/// - It ends in the collective that performs it.
///
///   y = matmul [-, 64@tp], [64@tp, -]        partial sum(tp)
///   z = transpose y                          partial sum(tp): linear
///   r = relu z                               an error: not linear
///   s = all_reduce z                         whole
///
/// A value without a sharding, which this phase has created, may have any type.
/// The ops that read it are checked against the shardings of their own results.
///
/// Also checks that a mean over split dims divides by the global number of
/// elements. Emits a diagnostic at the first error and fails.
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
