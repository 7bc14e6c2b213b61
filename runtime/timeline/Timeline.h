//===- Timeline.h - actions, messages and memory of a step over time ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINE_H
#define PCC_RUNTIME_TIMELINE_TIMELINE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::runtime {

/// An action with its start and end times, in seconds since the step began.
struct TimedAction {
  Action action;
  double start = 0;
  double end = 0;
  /// Name to display; if empty, the action's spelling, such as "0F3".
  std::string name = {};
  /// CPU time in seconds of the thread that ran the action; negative if
  /// unknown.
  double coreSeconds = -1;
};

/// Returns the name to display: `timed.name`, or the action's spelling (such as
/// "0F3") if `timed.name` is empty.
inline std::string nameOf(const TimedAction &timed) {
  return timed.name.empty() ? print(timed.action) : timed.name;
}

/// One point of a step function of memory over time: from `seconds` until the
/// next point, `bytes` bytes are in use.
struct MemoryPoint {
  double seconds = 0;
  int64_t bytes = 0;
};

/// One training or inference step, simulated or measured, as rows of actions
/// over time. In a simulated step, a row is one pipeline position (ranks with
/// the same stages). In a measured step, a row is one rank. The outer index of
/// all vectors is the row.
struct Timeline {
  /// Names of the rows. Row N without an entry has the name "rank N".
  std::vector<std::string> names = {};
  /// Actions of each row, in order of time and without overlap. After a
  /// deadlock in a simulation, actions that cannot start are missing (see
  /// `stuck`).
  std::vector<std::vector<TimedAction>> positions;
  /// Communication of each row, ordered by start; empty if it was not recorded.
  /// Entries may overlap actions and each other.
  ///
  /// - Simulated step: an entry is the transfer of one message, on the row of
  ///   its sender or receiver, without the wait for the peer.
  /// - Measured step: an entry is the time of the rank in a message exchange or
  ///   a collective.
  std::vector<std::vector<TimedAction>> messages;
  /// Memory in use on each row over time; empty if it was not computed
  /// (addMemory).
  std::vector<std::vector<MemoryPoint>> memory;
  /// Time at which the last action or message ends, in seconds.
  double makespan = 0;
  /// Idle seconds of each row: the makespan minus the durations of the row's
  /// actions.
  std::vector<double> idle;
  /// The reason of a deadlock in a simulation; empty if the step completes. For
  /// each stuck row, names the first action that cannot start, and its missing
  /// input.
  std::string stuck;
};

/// Returns the name of row number `row`: its entry in `timeline.names`, or
/// "rank N" for row N if there is no entry.
std::string rowName(const Timeline &timeline, size_t row);

/// Sets `timeline.makespan` and `timeline.idle`, computed from the actions and
/// messages.
void measureIdle(Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINE_H
