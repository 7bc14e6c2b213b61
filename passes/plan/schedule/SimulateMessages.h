//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a program with its messages. Each pipeline position runs its steps
/// in order and blocks at a wait until the messages of the wait have arrived.
///
/// A message departs when three conditions hold: the sender has posted the
/// send, the receiver has posted the receive, and the previous message from
/// this sender to this receiver has arrived. The message arrives
/// `costs.transferSeconds` later.
///
/// The result has the start and end of each action, by position. `messages` of
/// the result has the departure and arrival of each send and receive. If
/// positions wait forever, `stuck` names the messages that never arrive.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
