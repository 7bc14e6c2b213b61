//===- DeadlockCheck.h - a proof that no position waits forever -----------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// What a replay found. `error` is empty if every position came to its end
/// with every message delivered and every action's inputs there.
struct ReplayResult {
  std::string error;
  /// The positions of the cycle, if positions wait for each other.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Runs the programs of all positions under the strictest semantics of
/// messages: nothing is buffered, a message is through once both ends have
/// posted it, between two positions the k-th send meets the k-th receive, and a
/// position stays at a wait until all of its messages are through. What
/// terminates like this terminates under every real communicator.
///
/// Also checks that both ends of a message mean the same value, that a value is
/// sent after it was computed, that every message is posted once at both ends
/// and waited for afterwards, a receive before its value is used. An error
/// about a deadlock prints the cycle:
///
///     deadlock: position 2 sends 2F1 to position 3, position 3 sends 3B0 to
///     position 2
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
