//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes of the arena that are in use while one action runs, and after the
/// action. `during` is the largest number at any instruction of the action.
/// `gradientsDuring` and `gradientsAfter` are the parts of these numbers that
/// gradients take.
struct ActionBytes {
  int64_t during = 0, after = 0;
  int64_t gradientsDuring = 0, gradientsAfter = 0;
};

/// Memory of the ranks that one row of a timeline shows, in bytes.
struct RowMemory {
  int64_t weights = 0, state = 0, arena = 0;
  /// One entry for each action that executes a function, such as a forward
  /// pass, in the order of execution. Sends and receives have no entry.
  std::vector<ActionBytes> actions = {};
};

/// Sets `timeline.memory`, the memory over time of each row of the timeline.
/// `rows` has one entry for each row. The actions in `timeline` must already
/// have start and end times. Between two actions, the memory in use is the
/// memory after the first action.
void addMemory(Timeline &timeline, const std::vector<RowMemory> &rows);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
