//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a program with its messages. Positions run their steps in order
/// and block at a wait until its messages have arrived. A message departs once
/// both ends have posted it and the previous message of the same direction
/// between the same positions has arrived. It travels for
/// `costs.transferSeconds`.
///
/// The result has the actions of each position and, in `messages`, its sends
/// and receives while they travel. If positions wait forever, `stuck` names the
/// messages that never arrive.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
