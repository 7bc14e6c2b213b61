//===- RequestedSchedule.h - the action table that a module asks for ------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// Returns the schedule of `module`, without updates and UNSHARD: the table
/// that a user wrote (`pipe.table`), or else the table of the generator that
/// `pipe.schedule` names. Without `pipe.schedule` the generator is `forward`
/// (inference). The sizes of the schedule are `pipe.stages`,
/// `pipe.virtual_stages` (stages per position) and `pipe.microbatches`, each 1
/// if absent. Reports an error at the module and fails if the schedule is
/// unknown or does not fit these sizes.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
