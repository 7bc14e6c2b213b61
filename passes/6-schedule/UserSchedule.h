//===- UserSchedule.h - schedules that users write as CSV -----------------===//

#ifndef PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/ActionTable.h"

#include <optional>

namespace pcc::schedule {

/// Returns the integer attribute `name` of the module; 1 if absent.
int moduleNumber(mlir::ModuleOp module, llvm::StringRef name);

/// Returns the pipeline schedule that a user wrote in the CSV format of PyTorch
/// (module attribute `pipe.table`), or std::nullopt without the attribute.
/// Emits an error and fails if the schedule is invalid, or disagrees with
/// `pipe.stages`, `pipe.microbatches` or `pipe.virtual_stages`.
mlir::FailureOr<std::optional<plan::ActionTable>>
userActionTable(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
