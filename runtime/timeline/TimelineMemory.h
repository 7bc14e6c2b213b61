//===- TimelineMemory.h - what a step holds when --------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes that a stage takes on each of its ranks.
struct StageBytes {
  /// During the whole step: weights and state of the optimizer.
  int64_t weights = 0;
  /// Accumulated gradients: from the first B or W to the update or, without
  /// one, to the end of the step.
  int64_t gradients = 0;
  /// What F of one microbatch leaves for its backward: until B or W ends. In a
  /// step without backward, until F ends.
  int64_t activations = 0;
  /// The part of `activations` that only I needs: until I ends.
  int64_t activationsOfInput = 0;
};

/// Fills `memory` from the actions of each row, by stage. An action takes its
/// bytes when it begins and gives them back when it ends.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// The most that each row ever holds.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
