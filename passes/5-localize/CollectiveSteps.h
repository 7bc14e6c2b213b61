//===- CollectiveSteps.h - the steps of a plan as ops ---------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
#define PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::localize {

/// Moves `value`, a part of a tensor of `shape` that is called `name`, as one
/// step of a plan does; `location` says why.
dist::CollectiveOp makeCollective(mlir::OpBuilder &builder,
                                  mlir::Location location, mlir::Value value,
                                  const plan::ReshardStep &step,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::StringRef name, mlir::Attribute stage);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_COLLECTIVESTEPS_H
