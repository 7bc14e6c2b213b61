//===- SignatureCheck.h - check of local arguments and results ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_SIGNATURECHECK_H
#define PCC_PASSES_5_LOCALIZE_SIGNATURECHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks the arguments and results of `function` against their attributes: the
/// type is the shard of `dist.global` under `dist.sharding`, and each returned
/// value has the sharding of its result. Emits an error and fails if a check
/// fails. Skips arguments and results without these attributes.
mlir::LogicalResult checkSignature(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_SIGNATURECHECK_H
