//===- CollectiveSteps.h - conversion of reshard steps to collectives -----===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::localize {

/// Creates the `dist.collective` for `step` of a reshard at the insertion point
/// of `builder`. `value` is the shard of one rank in the sharding
/// `step.before`. `shape` is the global shape, and `name` is the tensor's name
/// in reports. `stage` is the op's `pipe.stage`, or null.
dist::CollectiveOp makeCollective(mlir::OpBuilder &builder,
                                  mlir::Location location, mlir::Value value,
                                  const plan::ReshardStep &step,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::StringRef name, mlir::Attribute stage);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
