//===- CollectiveCheck.h - check of collectives against their shardings ---===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVECHECK_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVECHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks each collective of `function`: one collective of its kind changes the
/// sharding `from` into `to`, and `received` is the number of bytes that a rank
/// receives in it. Emits an error that says the right kind or number, and
/// fails, if a check fails.
mlir::LogicalResult checkCollectives(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVECHECK_H
