//===- PartialCheck.h - what is still to be reduced, as a type ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
#define PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks the local ops of `function`, one after another: which of their values
/// are partial, over which axes and of which kind, is a type. It begins where a
/// dim is reduced that ranks divide, passes linear ops of its kind alone, and
/// ends in the one collective that reduces it:
///
///   y = matmul [-, 64@tp], [64@tp, -]        partial sum(tp)
///   z = transpose y                          partial sum(tp): linear
///   r = relu z                               an error: not linear
///   s = all_reduce z                         whole
///
/// And a mean divides by the number of elements that there are on all ranks. A
/// value without a sharding, which this phase has made, may be anything; what
/// reads it is held to its own sharding. Fails after an error.
mlir::LogicalResult checkPartials(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PARTIALCHECK_H
