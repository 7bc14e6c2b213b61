//===- FlightLog.h - snapshot of a rank's flight recorder -----------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H

#include "runtime/comm/flight/FlightEntry.h"

#include <limits>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A copy of one rank's flight recorder: header fields and entries.
struct FlightLog {
  int rank = 0;
  int64_t step = 0;
  double moved = 0;
  bool hasLeft = false;
  /// Latest entries of the recorder, oldest first.
  std::vector<FlightEntry> entries;

  /// Returns a copy of a flight recorder. `ring` has FlightRecorder::kCapacity
  /// entries. The rank may write meanwhile: an entry of the copy may mix old
  /// and new fields, but its texts end with a NUL.
  static FlightLog of(const FlightHeader &header, const FlightEntry *ring);
};

/// A time later than all entries. It stands for the end of a flight log.
inline constexpr double kAtTheEnd = std::numeric_limits<double>::infinity();

/// Activity of a rank at one time, according to the rank's flight log (log of
/// its latest activities). The pointers refer to entries of the log.
struct FlightState {
  /// The wait (for a collective or for messages) that was in progress at the
  /// time of this state; null if the rank did not wait.
  const FlightEntry *wait = nullptr;
  /// The schedule action that was in progress, or else the last one that had
  /// ended. Null if no action had begun.
  const FlightEntry *action = nullptr;
  /// Whether `action` was in progress at the time of this state. False if it
  /// had ended.
  bool isInAction = false;
  /// Time of the rank's last sign of life: the start or end of an entry, or a
  /// heartbeat (poll of a wait). Heartbeats count only if this state describes
  /// the end of the log, because a log keeps only the time of the latest one.
  double moved = 0;
};

/// Returns the activity of a rank at `time`, in seconds of
/// FlightRecorder::now(). The log must outlive the result.
FlightState stateAt(const FlightLog &log, double time = kAtTheEnd);

/// Reads all flight recorder files in directory `folder`, one per rank of this
/// host. Returns the logs sorted by rank. Skips other files.
std::vector<FlightLog> readFlights(const std::string &folder);

/// Returns the flight logs as JSON text. `reason` is the error of the run.
/// Times are in seconds relative to the latest sign of life of any rank, so 0
/// or negative.
std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
