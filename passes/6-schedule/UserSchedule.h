//===- UserSchedule.h - schedules that users write as CSV -----------------===//

#ifndef PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/ActionTable.h"

#include <optional>

namespace pcc::schedule {

/// Returns the integer attribute `name` of the module; 1 if absent.
int moduleNumber(mlir::ModuleOp module, llvm::StringRef name);

/// Parses the schedule in the module's `pipe.table`; nullopt if there is none.
/// Emits an error at the module and fails if the text is malformed. It must fit
/// `pipe.stages`, `pipe.virtual_stages` and `pipe.microbatches`.
mlir::FailureOr<std::optional<plan::ActionTable>>
userActionTable(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
