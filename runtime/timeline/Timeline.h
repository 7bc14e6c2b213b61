//===- Timeline.h - what every position does when -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINE_H
#define PCC_RUNTIME_TIMELINE_TIMELINE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::runtime {

/// Times are seconds since the step began.
struct TimedAction {
  Action action;
  double start = 0;
  double end = 0;
  /// What it is called; empty: as in action tables.
  std::string name = {};
  /// How long the thread that ran it had a core; negative if that is not known.
  double coreSeconds = -1;
};

inline std::string nameOf(const TimedAction &timed) {
  return timed.name.empty() ? print(timed.action) : timed.name;
}

/// From `seconds` on, until the next point, a row holds `bytes`.
struct MemoryPoint {
  double seconds = 0;
  int64_t bytes = 0;
};

/// One step, as it was simulated or as it was measured: a row per position, or
/// one per rank of a measured run.
struct Timeline {
  /// What the rows are called; empty: rank 0, rank 1, …
  std::vector<std::string> names = {};
  /// The actions of each row in order; none begins before the last has ended.
  /// Of a simulation: actions that can never start are missing, and `stuck`
  /// tells why.
  std::vector<std::vector<TimedAction>> positions;
  /// Sends and receives of each row by start, while they travel and not while
  /// they wait; of a measured step all that a rank spent in exchanges and
  /// collectives. They may overlap with actions and with each other. Empty if
  /// messages were not looked at.
  std::vector<std::vector<TimedAction>> messages;
  /// What each row holds. Empty if memory was not looked at.
  std::vector<std::vector<MemoryPoint>> memory;
  double makespan = 0;
  /// Makespan less own work, by row.
  std::vector<double> idle;
  /// Empty, or the first actions of each position that wait forever, and for
  /// what.
  std::string stuck;
};

/// The name of a row.
std::string rowName(const Timeline &timeline, size_t row);

/// Sets makespan and idle from the actions and messages of the rows.
void measureIdle(Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINE_H
