//===- SimulateMessages.h - when every message travels --------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Runs a program: positions take their steps in order and stay at a wait until
/// its messages are through. A message begins to travel once both ends have
/// posted it and the one before it, in the same direction between the same
/// positions, is through. It takes `costs.transferSeconds`, nothing if there is
/// none; `messages` says when.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
