//===- DeadlockCheck.h - deadlock proof of a pipeline with messages -------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// Result of `replay`, the simulated execution of a pipeline.
struct ReplayResult {
  /// Text about the first error that the replay found. An example is "position
  /// 1 runs 1F0 before it has received 0F0", where position 1 is pipeline rank
  /// 1. The text is empty if there was no error. Every rank then executed all
  /// its steps, every message was delivered, and every action had its inputs.
  std::string error;
  /// Pipeline ranks in a deadlock: each waits for the next one, and the last
  /// one for the first. Empty if there is none.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Executes the programs of all pipeline ranks with rendezvous messages. The
/// rules are the strictest that a communicator can have:
///  - Nothing is buffered: a message is delivered once its send and its receive
///    are posted.
///  - The k-th send from rank a to rank b matches the k-th receive of b from a.
///  - A rank blocks at a wait until all messages of the wait are delivered.
///
/// The replay also checks that:
///  - matching sends and receives are of the same value;
///  - a value is sent after it is computed;
///  - a received value is waited for before it is used;
///  - each send and each receive is posted once and waited for later.
///
/// For a deadlock, the error prints the cycle, and calls each pipeline rank a
/// position:
///
///     deadlock: position 2 sends 2F1 to position 3, position 3 sends 3B0 to
///     position 2
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
