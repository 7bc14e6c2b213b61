//===- UserSchedule.h - schedules that users write as CSV -----------------===//

#ifndef PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/ActionTable.h"

#include <optional>

namespace pcc::schedule {

/// Returns the integer attribute `name` of the module; 1 if absent.
int moduleNumber(mlir::ModuleOp module, llvm::StringRef name);

/// Returns the pipeline schedule that a user wrote. The module attribute
/// `pipe.table` contains the text of the schedule, in the CSV format of
/// PyTorch's pipeline schedules. Each line lists the actions of one rank along
/// the pipeline axis of the mesh. Example of a line: "0F0,0F1,0B0,0B1". Stage 0
/// runs the forward pass (F) of microbatch 0 and of microbatch 1. Then stage 0
/// runs the backward pass (B) of both microbatches.
///
/// Returns std::nullopt if the module has no attribute `pipe.table`. Emits an
/// error and fails in two cases:
///
///  - The text is malformed, or its actions are not a valid schedule.
///  - The schedule disagrees with the module. The attributes `pipe.stages` and
///    `pipe.microbatches` give the numbers of stages and of microbatches. The
///    attribute `pipe.virtual_stages` gives the number of stages per line.
mlir::FailureOr<std::optional<plan::ActionTable>>
userActionTable(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
