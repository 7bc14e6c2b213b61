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

/// Simulates the programs of all pipeline ranks. The simulation computes no
/// tensors and sends no data. A program is a list of steps. A step executes an
/// action, posts (begins) sends and receives, or waits until sends and receives
/// are delivered. An action is, for example, the forward pass of one stage for
/// one microbatch. The simulation has these rules:
///
///  - Messages are not buffered. A send and its receive are delivered once the
///    sender has posted the send and the receiver has posted the receive.
///  - The first send from rank a to rank b belongs to the first receive of rank
///    b from rank a, the second send belongs to the second receive, and so on.
///  - A wait blocks its rank until all sends and receives of the wait are
///    delivered.
///
/// These rules are the strictest that a communicator can have. A communicator
/// with buffers blocks ranks in fewer cases. The result has an error in these
/// cases:
///
///  - Deadlock: ranks wait for each other in a cycle.
///  - A rank waits for a message to or from a rank that has ended its program.
///  - A send and its receive are for different values.
///  - A rank sends a value that it has not computed.
///  - An action uses a value from another rank, but the rank of the action has
///    not waited for the receive of the value.
///  - A rank posts a send or a receive twice, without a wait for it in between.
///  - A rank waits for a send or a receive that it has not posted.
///  - A rank posts a send or a receive and never waits for it.
///
/// The error text of a deadlock describes the cycle. The text calls a pipeline
/// rank a position. Example:
///
///     deadlock: position 2 sends 2F1 to position 3, position 3 sends 3B0 to
///     position 2
///
/// 2F1 is the activation that stage 2 computes for microbatch 1. 3B0 is the
/// gradient that stage 3 computes for microbatch 0. Rank 2 waits until rank 3
/// receives 2F1, and rank 3 waits until rank 2 receives 3B0.
ReplayResult replay(const PipelineProgram &program);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_DEADLOCKCHECK_H
