//===- Timeline.h - actions, messages and memory of a step over time ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINE_H
#define PCC_RUNTIME_TIMELINE_TIMELINE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::runtime {

/// An action and the time at which it ran. Times are seconds since the step
/// began.
struct TimedAction {
  Action action;
  double start = 0;
  double end = 0;
  /// Name to display; empty for the action's spelling.
  std::string name = {};
  /// CPU time in seconds of the thread that ran the action; negative if
  /// unknown.
  double coreSeconds = -1;
};

/// Returns the name to display.
inline std::string nameOf(const TimedAction &timed) {
  return timed.name.empty() ? print(timed.action) : timed.name;
}

/// One step of a memory curve: from `seconds` until the next point, the row
/// holds `bytes` bytes.
struct MemoryPoint {
  double seconds = 0;
  int64_t bytes = 0;
};

/// One training or inference step, simulated or measured. A simulated step has
/// one row per pipeline position, a measured step one row per rank. All vectors
/// are indexed by row.
struct Timeline {
  /// Names of the rows; missing ones are "rank 0", "rank 1", …
  std::vector<std::string> names = {};
  /// Actions of each row, in order of time and without overlap. In a simulation
  /// that deadlocks, actions that can never start are missing, and `stuck`
  /// tells the reason.
  std::vector<std::vector<TimedAction>> positions;
  /// Communication of each row, ordered by start; empty if it was not recorded.
  /// In a simulation these are the sends and receives, each while it travels,
  /// without the time it waits for its peer. In a measured step they are the
  /// times that the rank spent in message exchanges and collectives. Entries
  /// may overlap actions and each other.
  std::vector<std::vector<TimedAction>> messages;
  /// Memory curve of each row; empty if memory was not computed (see
  /// addMemory).
  std::vector<std::vector<MemoryPoint>> memory;
  /// Time at which the last action or message ends, in seconds.
  double makespan = 0;
  /// Idle seconds of each row: the makespan without the time of the row's
  /// actions.
  std::vector<double> idle;
  /// Empty if the step completes. In a deadlock: for each waiting position, the
  /// first action that waits forever and its missing input.
  std::string stuck;
};

/// Returns the name of a row.
std::string rowName(const Timeline &timeline, size_t row);

/// Computes `makespan` and `idle` from the actions and messages.
void measureIdle(Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINE_H
