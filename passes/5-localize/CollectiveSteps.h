//===- CollectiveSteps.h - conversion of reshard steps to collectives -----===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::localize {

/// Creates the `dist.collective` that performs `step`, and records the sharding
/// `step.after` on its result. The op is inserted at the insertion point of
/// `builder`.
///
/// `value` is one rank's shard under `step.before` of a tensor with the global
/// shape `shape`. `location` carries the cause of the communication for `pcc
/// explain`. `name` is the name of the tensor in reports. `stage` becomes the
/// op's `pipe.stage`; if it is null, the op has none.
dist::CollectiveOp makeCollective(mlir::OpBuilder &builder,
                                  mlir::Location location, mlir::Value value,
                                  const plan::ReshardStep &step,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::StringRef name, mlir::Attribute stage);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
