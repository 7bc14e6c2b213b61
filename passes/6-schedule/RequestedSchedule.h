//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the action table of `module`: which actions each pipeline position
/// (the stages that one rank runs) executes, in order. Actions are, for
/// example, the forward pass (F) and the backward pass (B) of one microbatch.
/// The table is not yet complete: the actions that run once per step are added
/// later. They are the updates, and UNSHARD (all-gather of weights that all
/// microbatches share).
///
/// The table is parsed from `pipe.table`, which a user wrote. Without
/// `pipe.table`, it is generated for the schedule named in `pipe.schedule`.
/// Without either attribute, the schedule is `forward` (inference). The sizes
/// are `pipe.stages`, `pipe.virtual_stages` (stages per position) and
/// `pipe.microbatches`, each 1 if absent. Emits an error at the module and
/// fails if the schedule is unknown or does not fit these sizes.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
