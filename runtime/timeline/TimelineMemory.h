//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes that one stage occupies on each of its ranks. Memory that an action
/// needs only while it runs is not included.
struct StageBytes {
  /// Weights and optimizer state, occupied during the whole step.
  int64_t weights = 0;
  /// Accumulated gradients, occupied from the start of the stage's first B or W
  /// to the end of its update, or to the end of the step if there is no update.
  int64_t gradients = 0;
  /// Activations of one microbatch that F keeps for the backward pass, occupied
  /// from the start of F to the end of B or W. In a step without backward pass
  /// they are released at the end of F.
  int64_t activations = 0;
  /// Part of `activations` that only I needs; it is released at the end of I.
  int64_t activationsOfInput = 0;
};

/// Computes `timeline.memory` from the actions. `stages` is indexed by stage
/// and must contain every stage of the timeline. An action allocates when it
/// starts and releases when it ends.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// Returns the peak of each row's memory curve, in bytes.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
