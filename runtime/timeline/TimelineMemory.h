//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Sizes, in bytes, of the memory that one pipeline stage occupies on each rank
/// that runs the stage. An action is one entry of the pipeline schedule, such
/// as the forward pass of the stage for one microbatch. The sizes do not
/// include temporary memory that is in use only while an action runs, such as
/// the intermediate results of a forward pass that the backward pass does not
/// need.
struct StageBytes {
  /// Number of bytes of the stage's weights and of the optimizer state of these
  /// weights. This memory is in use during the whole step.
  int64_t weights = 0;
  /// Number of bytes of the gradients of the stage's weights. The gradients of
  /// all microbatches are added up in this memory.
  ///
  /// The memory is in use from the start of the first action of kind B
  /// (backward) or W (weight gradient) of the stage. The memory is released at
  /// the end of the stage's first action of kind U (optimizer update). If the
  /// step has no action of kind U for the stage, the memory is in use until the
  /// end of the step.
  int64_t gradients = 0;
  /// Size of the activations of one microbatch that the forward pass keeps for
  /// the backward pass. The memory of the activations is in use from the start
  /// of the forward pass. There are three cases for its release:
  ///
  /// - The backward pass is a single action. The memory is released at the end
  ///   of this action.
  /// - The backward pass is divided into two actions. Each action releases a
  ///   part of the memory at its end. The field `activationsOfInput` is the
  ///   number of bytes that the first action releases. The second action
  ///   releases the rest.
  /// - The step has no backward pass. The memory is released at the end of the
  ///   forward pass.
  int64_t activations = 0;
  /// Number of bytes that the first half of a divided backward pass releases. A
  /// backward pass can be divided into two actions. The first action, I (input
  /// gradient), computes the gradients of the stage's inputs. The second
  /// action, W (weight gradient), computes the gradients of the stage's
  /// weights.
  ///
  /// The field `activations` is the number of bytes of all activations of one
  /// microbatch. The field `activationsOfInput` is the number of bytes of the
  /// activations that I needs and W does not need. I releases these activations
  /// when I ends, and W releases all other activations when W ends. For
  /// example, if `activations` is 10 and `activationsOfInput` is 4, I releases
  /// 4 bytes and W releases 6 bytes.
  int64_t activationsOfInput = 0;
};

/// Sets `timeline.memory` to the memory in use over time, for each row of the
/// timeline. A row contains the actions of one rank, or of all ranks that run
/// the same pipeline stages. An action is one entry of the pipeline schedule,
/// such as the forward pass of a stage for one microbatch. `timeline.positions`
/// must contain the actions of each row, with their times.
///
/// `stages` has one entry for each pipeline stage. The entry contains the sizes
/// of the stage's weights, gradients and activations. Weights are in use during
/// the whole step. Gradients and activations are in use from the start of one
/// action to the end of another action. For example, the activations of a
/// microbatch are in use from the start of its forward pass to the end of its
/// backward pass.
void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages);

/// Returns the peak memory use in bytes of each row of the timeline. A row
/// shows the actions of one rank, or of all ranks that run the same pipeline
/// stages. The function reads `timeline.memory`, which addMemory() must have
/// set. For example, if row 0 has 100 bytes in use at first, then 150 and then
/// 120, entry 0 of the result is 150.
std::vector<int64_t> peakBytes(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
