//===- CollectiveSteps.h - conversion of reshard steps to collectives -----===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::localize {

/// Creates the `dist.collective` that performs `step`, one step of a reshard (a
/// change of sharding). The op is inserted at the insertion point of `builder`.
///
/// - `location`: location of the op.
/// - `value`: the shard of one rank, with the sharding `step.before`. The
///   result has the sharding `step.after`.
/// - `shape`: shape of the whole tensor.
/// - `name`: name of the tensor in reports.
/// - `stage`: the op's `pipe.stage`; null for none.
dist::CollectiveOp makeCollective(mlir::OpBuilder &builder,
                                  mlir::Location location, mlir::Value value,
                                  const plan::ReshardStep &step,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::StringRef name, mlir::Attribute stage);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
