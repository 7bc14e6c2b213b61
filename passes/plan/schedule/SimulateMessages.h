//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a pipeline program. Returns the start and the end of each action
/// and message. Each rank executes its steps one after another. Compute runs an
/// action. Post begins sends and receives, and takes no time. Wait ends once
/// its messages have arrived. A message departs once both ranks have begun it
/// and the previous message between them in this direction has arrived. It then
/// travels for costs.transferSeconds. The member `messages` has each message
/// twice: for the sender and for the receiver. If ranks wait forever, `stuck`
/// names the messages for which they wait.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
