//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes that one pipeline stage occupies on each rank that runs it. Memory
/// that an action needs only while it runs is not included. F, B, I and W are
/// the forward pass, the backward pass, and the input-gradient and
/// weight-gradient halves of a split backward pass.
struct StageBytes {
  /// Weights and optimizer state, occupied during the whole step.
  int64_t weights = 0;
  /// Accumulated gradients of the weights. They are occupied from the start of
  /// the stage's first B (backward) or W (weight gradient) to the end of the
  /// stage's update. If there is no update, they are occupied to the end of the
  /// step.
  int64_t gradients = 0;
  /// Activations of one microbatch that the forward pass F keeps for the
  /// backward pass. They are occupied from the start of F to the end of B or W.
  /// In a step without backward pass they are released at the end of F.
  int64_t activations = 0;
  /// The part of `activations` that the input gradient I needs and the weight
  /// gradient W does not. It is released at the end of I.
  int64_t activationsOfInput = 0;
};

/// Sets `timeline.memory`, computed from the actions. `stages` is indexed by
/// pipeline stage, and must have an entry for every stage that occurs in the
/// timeline. An action allocates memory when it starts and releases memory when
/// it ends.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// Returns, for each row of the timeline, the largest number of bytes that are
/// in use at once.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
