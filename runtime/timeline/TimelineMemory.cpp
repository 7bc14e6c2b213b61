//===- TimelineMemory.cpp - memory curves of a step -----------------------===//

#include "runtime/timeline/TimelineMemory.h"

#include <algorithm>

namespace pcc::runtime {

/// Returns the memory in use over time, for a timeline row with the actions
/// `row`. `memory.actions[i]` has the bytes in use during and after `row[i]`.
/// If a simulated row has stopped in a deadlock, `row` lacks its last actions,
/// and the surplus entries of `memory.actions` are ignored.
static MemoryCurve curveOf(const std::vector<TimedAction> &row,
                           const RowMemory &memory) {
  MemoryCurve curve{memory.weights, memory.state, memory.arena};
  const size_t count = std::min(row.size(), memory.actions.size());
  for (size_t i = 0; i < count; ++i) {
    const ActionBytes &bytes = memory.actions[i];
    curve.points.push_back({row[i].start, bytes.gradientsDuring,
                            bytes.during - bytes.gradientsDuring});
    curve.points.push_back(
        {row[i].end, bytes.gradientsAfter, bytes.after - bytes.gradientsAfter});
  }
  return curve;
}

void addMemory(Timeline &timeline, const std::vector<RowMemory> &rows) {
  timeline.memory.clear();
  for (size_t row = 0; row < timeline.positions.size(); ++row)
    timeline.memory.push_back(curveOf(timeline.positions[row], rows[row]));
}

} // namespace pcc::runtime
