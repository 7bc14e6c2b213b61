//===- FlightLog.h - snapshot of a rank's flight recorder -----------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H

#include "runtime/comm/flight/FlightEntry.h"

#include <limits>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A copy of one rank's flight recorder. The fields are those of FlightHeader.
struct FlightLog {
  int rank = 0;
  int64_t step = 0;
  double moved = 0;
  bool hasLeft = false;
  /// The latest entries, oldest first.
  std::vector<FlightEntry> entries;

  /// Copies a recorder. `ring` has FlightRecorder::kCapacity entries. The rank
  /// may write at the same time: all texts of the copy end with a NUL, but an
  /// entry may mix old and new fields.
  static FlightLog of(const FlightHeader &header, const FlightEntry *ring);
};

/// A time after all entries: selects the last state of a log.
inline constexpr double kAtTheEnd = std::numeric_limits<double>::infinity();

/// State of a rank at one time. Entries are borrowed from the log.
struct FlightState {
  /// The wait in progress; null if the rank did not wait.
  const FlightEntry *wait = nullptr;
  /// The action in progress, or else the last action before; null if none had
  /// begun.
  const FlightEntry *action = nullptr;
  /// Whether `action` was in progress.
  bool isInAction = false;
  /// Time of the last sign of life up to the given time. Heartbeats count only
  /// at kAtTheEnd, because the log keeps only the latest one.
  double moved = 0;
};

/// Returns the state of a rank at `time`. The log must outlive the result.
FlightState stateAt(const FlightLog &log, double time = kAtTheEnd);

/// Returns the recorders in directory `folder`, sorted by rank: those of all
/// ranks on this host. Skips files that are not recorders.
std::vector<FlightLog> readFlights(const std::string &folder);

/// Returns the logs as JSON text for other programs. `reason` is the error of
/// the run. Times are in seconds relative to the last sign of life of any rank,
/// so they are 0 or negative.
std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
