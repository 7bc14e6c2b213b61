//===- Timeline.h - what every position does when -------------------------===//

#ifndef PCC_PASSES_PLAN_TIMELINE_H
#define PCC_PASSES_PLAN_TIMELINE_H

#include "passes/plan/Action.h"

namespace pcc::plan {

/// Times are seconds since the step began.
struct TimedAction {
  Action action;
  double start = 0;
  double end = 0;
};

/// From `seconds` on, until the next point, a row holds `bytes`.
struct MemoryPoint {
  double seconds = 0;
  int64_t bytes = 0;
};

/// One step, as it was simulated or as it was measured: a row per position, or
/// one per rank of a measured run.
struct Timeline {
  /// The actions of each row in order; none begins before the last has ended.
  /// Of a simulation: actions that can never start are missing, and `stuck`
  /// tells why.
  std::vector<std::vector<TimedAction>> positions;
  /// Sends and receives of each row by start, while they travel and not while
  /// they wait. They may overlap with actions and with each other. Empty if
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

/// Sets makespan and idle from the actions and messages of the rows.
void measureIdle(Timeline &timeline);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_TIMELINE_H
