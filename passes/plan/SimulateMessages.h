//===- SimulateMessages.h - when every message travels --------------------===//

#ifndef PCC_PASSES_PLAN_SIMULATEMESSAGES_H
#define PCC_PASSES_PLAN_SIMULATEMESSAGES_H

#include "passes/plan/Exchanges.h"
#include "passes/plan/Simulate.h"

namespace pcc::plan {

/// Who waits for a message that travels.
enum class MessageFlow : uint8_t {
  /// The position, as with blocking calls: it stays at an exchange until all
  /// of its messages are through.
  Blocking,
  // All others: positions wait only for what they use. Messages stand in
  // queues in the order of the program; one travels when it has been computed
  // and is the first of its queue at both ends.
  /// A queue per position.
  OneQueue,
  /// A queue for sends and one for receives.
  QueuePerDirection,
  /// A queue for activations and one for gradients.
  QueuePerWave,
  /// A queue per peer, for both directions: one communicator per pair.
  QueuePerPeer,
};

/// Runs a program (`lowerExchanges` for blocking messages, `lowerInOrder` for
/// queues). A message takes `costs.transferSeconds` from the moment when both
/// ends can begin, and nothing if there is none; `messages` says when.
///
/// With the golden tables' units, 8 positions and 32 microbatches, interleaved
/// with two stages takes 132 with one queue and 106.5 with one per peer.
Timeline simulateMessages(const PipelineProgram &program, MessageFlow flow,
                          const ActionCosts &costs = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SIMULATEMESSAGES_H
