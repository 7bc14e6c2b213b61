//===- DeadlockCheck.h - deadlock proof of a pipeline with messages -------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// Result of `replay`, the simulated execution of a pipeline.
struct ReplayResult {
  /// First violation that the replay found. Empty if every pipeline position
  /// executed all of its steps, every message was delivered, and every action
  /// had its inputs.
  std::string error;
  /// Pipeline positions in a deadlock: each waits for the next one in the list,
  /// and the last one waits for the first. Empty if there is no such cycle.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Executes the programs of all positions (ranks of the pipeline) with
/// rendezvous messages. Their rules are the strictest that a communicator can
/// have:
///  - Nothing is buffered: a message is delivered once the sender has posted
///    the send and the receiver has posted the receive.
///  - The k-th send from position a to position b matches the k-th receive of b
///    from a.
///  - A position blocks at a wait until all messages of the wait are delivered.
///
/// A program that terminates under these rules terminates with every real
/// communicator, because no communicator delivers a message later.
///
/// The replay also checks that:
///  - the send and the receive that match are of the same value;
///  - a value is sent after it is computed;
///  - a received value is waited for before it is used;
///  - each send and each receive is posted once and waited for later.
///
/// For a deadlock, the error prints the cycle:
///
///     deadlock: position 2 sends 2F1 to position 3, position 3 sends 3B0 to
///     position 2
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
