//===- FlightLog.h - snapshot of a rank's flight recorder -----------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H

#include "runtime/comm/flight/FlightEntry.h"

#include <limits>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Copy of a rank's flight recorder. A flight recorder is a log of the rank's
/// latest activities, such as waits for other ranks. The rank may change its
/// flight recorder at any time, but does not change this copy.
///
/// The data members `rank`, `step`, `moved` and `hasLeft` are copies of the
/// data members of FlightHeader with the same names.
struct FlightLog {
  int rank = 0;
  int64_t step = 0;
  double moved = 0;
  bool hasLeft = false;
  /// Latest activities of the rank, in the order in which they began. Each
  /// element describes one activity, such as a wait for other ranks.
  std::vector<FlightEntry> entries;

  /// Returns a copy of a flight recorder (log of a rank's latest activities).
  /// `header` is the recorder's header. `ring` is the recorder's ring buffer of
  /// FlightRecorder::kCapacity entries.
  ///
  /// The rank may write to the recorder while this function copies. A copied
  /// entry may then have some old and some new fields. Even then, every copied
  /// text ends with a NUL.
  static FlightLog of(const FlightHeader &header, const FlightEntry *ring);
};

/// A time that is later than all times in a flight log. A flight log lists the
/// latest activities of one rank. A function with a time as its argument
/// describes the activity of the rank at this time. For the argument kAtTheEnd,
/// the function describes the last activity in the log.
inline constexpr double kAtTheEnd = std::numeric_limits<double>::infinity();

/// Activity of a rank at one time, according to the rank's flight log (log of
/// its latest activities). The pointers refer to entries of the log.
struct FlightState {
  /// The wait (for a collective or for messages) that was in progress at the
  /// time of this state; null if the rank did not wait.
  const FlightEntry *wait = nullptr;
  /// The latest action that had begun at the time that this FlightState
  /// describes. This action was still in progress at that time if `isInAction`
  /// is true. Null if the flight log contains no such action.
  ///
  /// An action is one unit of work of a rank. For example, action 0F3 is the
  /// forward (F) of microbatch 3 on stage 0.
  const FlightEntry *action = nullptr;
  /// Whether the schedule action in the data member `action` was in progress at
  /// the time of this state. False if this action had already ended, or if
  /// `action` is null. An example of an action is 0F3: the forward (F) of
  /// microbatch 3 on stage 0.
  bool isInAction = false;
  /// Latest time at which the rank was active, in seconds of the host's steady
  /// clock. A rank is active when it begins or ends an entry of its log. During
  /// a wait, a rank is also active each time that it polls (checks whether the
  /// wait is over).
  ///
  /// A log contains the time of the latest poll, but no times of earlier polls.
  /// If this state describes a time before the end of the log, this value is
  /// therefore a time at which an entry began or ended.
  double moved = 0;
};

/// Returns the activity of a rank at one time. `log` is the rank's flight log
/// (log of its latest activities). `time` is in seconds of the host's steady
/// clock, which FlightRecorder::now() returns. By default, `time` is the end of
/// the log. The result points to entries of `log`, so `log` must outlive it.
FlightState stateAt(const FlightLog &log, double time = kAtTheEnd);

/// Reads all flight recorder files in directory `folder`, one per rank of this
/// host. Returns the logs sorted by rank. Skips other files.
std::vector<FlightLog> readFlights(const std::string &folder);

/// Returns the flight logs (logs of the latest activities) of the ranks as JSON
/// text. The text also contains `reason`, the error message of the run.
///
/// Times in the text are in seconds. Time 0 is the latest time at which any
/// rank began or ended an activity, or polled while it waited for other ranks.
/// Earlier times are negative: -2.5 is 2.5 s before time 0.
std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
