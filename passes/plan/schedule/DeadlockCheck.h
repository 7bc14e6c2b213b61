//===- DeadlockCheck.h - deadlock proof of a pipeline with messages -------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H

#include "passes/plan/schedule/PipelineMessages.h"

namespace pcc::plan {

/// Result of `replay`, the simulated execution of a pipeline.
struct ReplayResult {
  /// Text about the first error that the function `replay` found. The text is
  /// empty if there was no error. Without an error, every rank executed all its
  /// steps, every message was delivered, and every action had its inputs.
  ///
  /// An example of a text is "position 1 runs 1F0 before it has received 0F0".
  /// Position 1 is pipeline rank 1. The action 1F0 is the forward pass (F) of
  /// stage 1 for microbatch 0. The value 0F0 is the activation that stage 0
  /// computes for microbatch 0.
  std::string error;
  /// Pipeline ranks in a deadlock: each waits for the next one, and the last
  /// one for the first. Empty if there is none.
  std::vector<int> cycle;

  bool terminates() const { return error.empty(); }
};

/// Simulates the programs of all pipeline ranks, without tensors or data.
/// Messages are not buffered: a message is delivered once the sender has posted
/// (begun) the send and the receiver has posted the receive. Between two ranks,
/// the n-th send belongs to the n-th receive. These rules are the strictest
/// that a communicator can have. Errors are a deadlock, a wait for a rank that
/// has ended, a send and a receive of different values, a value that is sent or
/// used before it is computed or received, a message that is posted twice
/// without a wait, a wait without a post, and a post without a wait. The text
/// of a deadlock describes the cycle.
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
