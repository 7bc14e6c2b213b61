//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the pipeline schedule of `module`: the user's table (`pipe.table`),
/// or else the generated schedule named by `pipe.schedule` (default `forward`).
/// Leaves out actions that run once per step. Emits an error and fails if the
/// schedule is invalid or does not fit the numbers of stages and microbatches.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
