//===- DeadlockCheck.h - deadlock proof of a pipeline with messages -------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// Result of a replay.
struct ReplayResult {
  /// First violation; empty if every position executed all of its steps, every
  /// message was delivered, and every action had its inputs.
  std::string error;
  /// Positions that wait for each other in a cycle, each for the next one;
  /// empty if there is no cycle.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Executes the programs of all positions under rendezvous semantics, the
/// strictest that a communicator can have:
///  - nothing is buffered: a message is delivered once both ends are posted;
///  - the k-th send from position a to position b matches the k-th receive of b
///    from a;
///  - a position blocks at a wait until all messages of the wait are delivered.
/// A program that terminates under these rules terminates with every real
/// communicator, since others only deliver earlier.
///
/// The replay also checks that both ends of a message mean the same value; that
/// a value is sent after it was computed; that a received value is waited for
/// before it is used; and that each end is posted once and waited for later.
/// The error of a deadlock prints the cycle:
///
///     deadlock: position 2 sends 2F1 to position 3, position 3 sends 3B0 to
///     position 2
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
