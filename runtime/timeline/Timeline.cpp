//===- Timeline.cpp - actions, messages and memory of a step over time ----===//

#include "runtime/timeline/Timeline.h"

#include <algorithm>

namespace pcc::runtime {

std::string rowName(const Timeline &timeline, size_t row) {
  return row < timeline.names.size() ? timeline.names[row]
                                     : "rank " + std::to_string(row);
}

/// Returns for how many seconds of `timed` an action in `row` runs at the same
/// time. The actions in `row` are in order of time and do not overlap.
static double overlap(const TimedAction &timed,
                      const std::vector<TimedAction> &row) {
  auto next = std::partition_point(
      row.begin(), row.end(),
      [&](const TimedAction &action) { return action.end <= timed.start; });
  double seconds = 0;
  for (; next != row.end() && next->start < timed.end; ++next)
    seconds +=
        std::min(next->end, timed.end) - std::max(next->start, timed.start);
  return seconds;
}

void measureIdle(Timeline &timeline) {
  timeline.makespan = 0;
  for (const auto *rows : {&timeline.positions, &timeline.messages})
    for (const std::vector<TimedAction> &row : *rows)
      for (const TimedAction &timed : row)
        timeline.makespan = std::max(timeline.makespan, timed.end);
  timeline.idle.clear();
  for (size_t row = 0; row < timeline.positions.size(); ++row) {
    double work = 0;
    for (const TimedAction &timed : timeline.positions[row])
      work += timed.end - timed.start;
    if (row < timeline.messages.size())
      for (const TimedAction &timed : timeline.messages[row])
        if (timed.action.kind == ActionKind::Communication)
          work -= overlap(timed, timeline.positions[row]);
    timeline.idle.push_back(timeline.makespan - work);
  }
}

double idleShare(const Timeline &timeline) {
  double idle = 0;
  for (double seconds : timeline.idle)
    idle += seconds;
  const double whole = timeline.makespan * double(timeline.idle.size());
  return whole > 0 ? idle / whole : 0;
}

} // namespace pcc::runtime
