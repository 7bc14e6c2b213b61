//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes that one pipeline stage occupies on each rank that runs it. Memory
/// that an action needs only while it runs is not included.
struct StageBytes {
  /// Weights and optimizer state, occupied during the whole step.
  int64_t weights = 0;
  /// Accumulated gradients of the weights, occupied from the stage's first B
  /// (backward) or W (weight gradient) to its update. Without an update, they
  /// are occupied to the end of the step.
  int64_t gradients = 0;
  /// Activations of one microbatch that the forward pass keeps for the backward
  /// pass. They are occupied from the start of F (forward) to the end of B
  /// (backward) or W (weight gradient). Without a backward pass, they are
  /// released at the end of F.
  int64_t activations = 0;
  /// Number of bytes of `activations` that I (input gradient) needs and W
  /// (weight gradient) does not need. They are released at the end of I. The
  /// rest of `activations` is released at the end of W. If `activations` is 10
  /// and this field is 4, I releases 4 bytes and W releases 6 bytes.
  int64_t activationsOfInput = 0;
};

/// Computes the memory in use on each row over time, and stores it in
/// `timeline.memory`. The input is the actions in `timeline.positions`.
/// `stages` has one entry per pipeline stage, the sizes of its weights,
/// gradients and activations. StageBytes describes at which actions they are
/// allocated and released.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// Returns the largest number of bytes in use at once, for each row.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
