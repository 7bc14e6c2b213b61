//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a pipeline program. Returns the start and the end of each action
/// and message. A message departs once both ranks have begun it and the
/// previous one in its direction has arrived. `messages` has each message
/// twice, for sender and receiver. `stuck` names messages that never arrive.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
