//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the pipeline schedule of `module`: one row of actions for each
/// position (rank of the pipeline). In the row 0F0, 0F1, 0B0, 0B1, stage 0 runs
/// the forward and the backward pass of the microbatches 0 and 1. Actions that
/// run once per step are absent. Returns the table in `pipe.table`, if any.
/// Otherwise generates the schedule `pipe.schedule` (default `forward`, without
/// backward passes) from `pipe.stages`, `pipe.virtual_stages` and
/// `pipe.microbatches` (default 1 each). Emits an error and fails if the name
/// or the table is invalid, or if they do not fit these numbers.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
