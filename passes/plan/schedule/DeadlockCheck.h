//===- DeadlockCheck.h - deadlock proof of a pipeline with messages -------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// Result of `replay`, the simulated execution of a pipeline.
struct ReplayResult {
  /// First error, such as "position 1 runs 1F0 before it has received 0F0",
  /// where position 1 is pipeline rank 1. Empty if every rank executed all its
  /// steps, every message was delivered, and every action had its inputs.
  std::string error;
  /// Pipeline ranks in a deadlock: each waits for the next one, and the last
  /// one for the first. Empty if there is none.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Simulates the programs of all pipeline ranks without data. Returns the first
/// error, such as a deadlock. Applies the strictest rules that a communicator
/// can have: messages are not buffered, so a send waits until the other rank
/// posts the receive. Between two ranks, the n-th send belongs to the n-th
/// receive. Programs without an error therefore run with every communicator.
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
