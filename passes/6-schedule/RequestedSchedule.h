//===- RequestedSchedule.h - the schedule that a module asks for ----------===//

#ifndef PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/Schedules.h"

namespace pcc::schedule {

/// The table of `pipe.table`, or what the generator that `pipe.schedule` names
/// (`forward` if none) makes for the module's stages and microbatches. Fails
/// with an error at the module.
mlir::FailureOr<plan::ActionTable> actionTableOf(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_REQUESTEDSCHEDULE_H
