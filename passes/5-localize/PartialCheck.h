//===- PartialCheck.h - type check of partial sums in local functions -----===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks that every partial value is reduced over ranks exactly once, before a
/// nonlinear op reads it. Emits an error and fails if not. Like a type check:
/// the type of a value is its list of pending reductions.
///
/// - A reduction begins where an op reduces a dim that ranks split.
/// - It passes through ops that are linear in the operand.
/// - It ends in the collective that performs it.
/// - A value without a sharding may have any type.
/// - A mean over split dims must divide by the global number of elements.
///
///   y = matmul [-, 64@tp], [64@tp, -]        partial sum(tp)
///   z = transpose y                          partial sum(tp): linear
///   r = relu z                               an error: not linear
///   s = all_reduce z                         whole
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
