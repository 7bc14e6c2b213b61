//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a program with its messages. Each pipeline rank runs its steps in
/// order, and blocks at a wait until its messages have arrived. A message
/// departs once two conditions hold:
///  - Its send and its receive are posted.
///  - The previous message from this sender to this receiver has arrived.
///
/// It arrives `costs.transferSeconds` later. The result has the times of
/// actions and, in `messages`, of sends and receives. If ranks wait forever,
/// `stuck` names the missing messages.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
