//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a pipeline program. Returns the start and the end of each action
/// and each message. A message departs when the sender has begun the send, the
/// receiver has begun the receive, and the previous message from this sender to
/// this receiver has arrived. Timeline::messages has two entries for each
/// message, one for the sender and one for the receiver. If messages never
/// arrive (deadlock), Timeline::stuck is a text that names them.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
