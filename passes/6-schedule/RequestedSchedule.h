//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the action table of `module`: for each pipeline position (a rank of
/// the pipeline), its actions in order, such as F (forward) and B (backward) of
/// a microbatch. Leaves out actions that run once per step, such as updates.
/// The table comes from the first of these that exists:
///
/// 1. `pipe.table`, a table that a user wrote;
/// 2. `pipe.schedule`, the name of a schedule;
/// 3. the schedule `forward` (inference).
///
/// Sizes: `pipe.stages`, `pipe.virtual_stages` (stages per position) and
/// `pipe.microbatches`, each 1 if absent. Emits an error at the module and
/// fails if the schedule is unknown or does not fit.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
