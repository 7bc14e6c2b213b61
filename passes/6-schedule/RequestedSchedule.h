//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the pipeline schedule of `module`. The schedule is a table with one
/// row for each position. A position is a rank of the pipeline, and runs one or
/// more stages. A row lists the actions of one position in the order of
/// execution. For example, the row 0F0, 0F1, 0B0, 0B1 has four actions of stage
/// 0: the forward pass (F) of the microbatches 0 and 1, and the backward pass
/// (B) of the same microbatches. The table does not contain actions that run
/// once per step, such as optimizer updates. The function reads these
/// attributes of `module`:
///
/// - `pipe.table`: the text of a table that a user wrote. If this attribute
///   exists, the function returns this table.
/// - `pipe.schedule`: the name of a schedule, such as `1f1b`. If `pipe.table`
///   does not exist, the function generates this schedule. If `pipe.schedule`
///   does not exist either, the function generates the schedule `forward`,
///   which has no backward passes.
/// - `pipe.stages`: the number of stages; 1 if absent.
/// - `pipe.virtual_stages`: the number of stages that each position runs; 1 if
///   absent.
/// - `pipe.microbatches`: the number of microbatches; 1 if absent.
///
/// Emits an error and fails if no schedule has the given name, if the table is
/// malformed, or if the table or the schedule does not fit the given numbers.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
