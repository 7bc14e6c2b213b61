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
  /// Part of `activations` that only the input gradient (I) needs; released at
  /// the end of I.
  int64_t activationsOfInput = 0;
};

/// Sets `timeline.memory`, computed from the actions. `stages` has one entry
/// per pipeline stage. An action allocates memory when it starts and releases
/// memory when it ends.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// Returns the largest number of bytes in use at once, for each row.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
