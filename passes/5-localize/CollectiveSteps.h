//===- CollectiveSteps.h - conversion of reshard steps to collectives -----===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::localize {

/// Creates the `dist.collective` that performs `step`, one step of a reshard (a
/// change of sharding). Records the sharding `step.after` on the result. The op
/// is inserted at the insertion point of `builder`.
///
/// `value` is the shard that one rank has under `step.before`; the whole tensor
/// has the shape `shape`. `location` carries the cause of the communication for
/// `pcc explain`. `name` is the tensor's name in reports. `stage` becomes the
/// op's `pipe.stage`; a null `stage` sets none.
dist::CollectiveOp makeCollective(mlir::OpBuilder &builder,
                                  mlir::Location location, mlir::Value value,
                                  const plan::ReshardStep &step,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::StringRef name, mlir::Attribute stage);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
