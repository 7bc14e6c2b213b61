//===- SimulateMessages.h - simulator of pipelines with messages ----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Simulates a pipeline program. The program has a list of steps for each
/// pipeline rank. A rank executes its steps one after another. There are three
/// kinds of steps:
///  - Compute runs an action, such as the forward pass of one stage for one
///    microbatch. `costs` gives the duration of the action.
///  - Post begins sends and receives of messages. The step takes no time.
///  - Wait has a list of sends and receives. The rank waits until the messages
///    of all these sends and receives have arrived.
///
/// A message departs as soon as three conditions hold:
///  - The sender has begun the send.
///  - The receiver has begun the receive.
///  - The previous message from this sender to this receiver has arrived.
///
/// The function `costs.transferSeconds` returns the time from the departure of
/// a message to its arrival.
///
/// The result has the start and end of each action. The member `messages` of
/// the result has the departure and arrival of each message, once for the
/// sender and once for the receiver. If ranks wait forever, the member `stuck`
/// of the result names the messages for which they wait.
Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATEMESSAGES_H
