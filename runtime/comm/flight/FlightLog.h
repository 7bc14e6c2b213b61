//===- FlightLog.h - snapshot of a rank's flight recorder -----------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H

#include "runtime/comm/flight/FlightEntry.h"

#include <limits>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A copy of one rank's flight recorder. `rank`, `step`, `moved` and `hasLeft`
/// are the fields of FlightHeader with the same names.
struct FlightLog {
  int rank = 0;
  int64_t step = 0;
  double moved = 0;
  bool hasLeft = false;
  /// Entries of the recorder's ring buffer (the latest ones), oldest first.
  std::vector<FlightEntry> entries;

  /// Returns a copy of a flight recorder. `ring` is the recorder's ring buffer
  /// of FlightRecorder::kCapacity entries. The rank may write at the same time:
  /// all texts of the copy end with a NUL, but an entry may mix old and new
  /// fields.
  static FlightLog of(const FlightHeader &header, const FlightEntry *ring);
};

/// A time that is later than all entries of a flight log. A function that
/// examines a log at a given time then examines the end of the log.
inline constexpr double kAtTheEnd = std::numeric_limits<double>::infinity();

/// Activity of a rank at one time, as its flight log shows. The pointers refer
/// to entries of the log.
struct FlightState {
  /// The wait (for a collective or for messages) that was in progress; null if
  /// the rank did not wait.
  const FlightEntry *wait = nullptr;
  /// The action of the schedule that was in progress. If no action was in
  /// progress, the last action that had ended. Null if no action had begun.
  const FlightEntry *action = nullptr;
  /// Whether `action` was in progress. False if the action had ended, or if
  /// there is none.
  bool isInAction = false;
  /// Time of the rank's last sign of life at or before the examined time. The
  /// begin and the end of an entry are signs of life. A heartbeat counts only
  /// if the examined time is kAtTheEnd, because a log has only the latest
  /// heartbeat.
  double moved = 0;
};

/// Returns the activity of a rank at `time`, in seconds of
/// FlightRecorder::now(). The log must outlive the result.
FlightState stateAt(const FlightLog &log, double time = kAtTheEnd);

/// Reads all flight recorder files in directory `folder`, one per rank of this
/// host, and returns copies of the recorders, sorted by rank. Skips files that
/// are not flight recorders.
std::vector<FlightLog> readFlights(const std::string &folder);

/// Returns the flight logs as JSON text for other programs. `reason` is the
/// error of the run. Times are in seconds relative to the latest sign of life
/// of all ranks, so they are 0 or negative.
std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
