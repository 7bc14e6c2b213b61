//===- Timeline.cpp - actions, messages and memory of a step over time ----===//

#include "runtime/timeline/Timeline.h"

#include <algorithm>

namespace pcc::runtime {

std::string rowName(const Timeline &timeline, size_t row) {
  return row < timeline.names.size() ? timeline.names[row]
                                     : "rank " + std::to_string(row);
}

void measureIdle(Timeline &timeline) {
  timeline.makespan = 0;
  for (const auto *rows : {&timeline.positions, &timeline.messages})
    for (const std::vector<TimedAction> &row : *rows)
      for (const TimedAction &timed : row)
        timeline.makespan = std::max(timeline.makespan, timed.end);
  timeline.idle.clear();
  for (const std::vector<TimedAction> &row : timeline.positions) {
    double work = 0;
    for (const TimedAction &timed : row)
      work += timed.end - timed.start;
    timeline.idle.push_back(timeline.makespan - work);
  }
}

} // namespace pcc::runtime
