//===- TimelineMemory.h - memory curves of a step -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
#define PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Bytes of the arena in use while one action runs (the most at any of its
/// instructions), and after it. The gradients are a part of them.
struct ActionBytes {
  int64_t during = 0, after = 0;
  int64_t gradientsDuring = 0, gradientsAfter = 0;
};

/// Memory of the ranks that one row of a timeline shows, in bytes.
struct RowMemory {
  int64_t weights = 0, state = 0, arena = 0;
  /// One entry for each action of the row that computes, in the order in which
  /// the row runs them.
  std::vector<ActionBytes> actions = {};
};

/// Sets `timeline.memory`. `rows` has one entry for each row of the timeline,
/// whose actions must have their times already. The memory between two actions
/// is that after the first of them.
void addMemory(Timeline &timeline, const std::vector<RowMemory> &rows);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEMEMORY_H
