//===- FlightLog.h - what a rank's recorder holds -------------------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H

#include "runtime/comm/flight/FlightEntry.h"

#include <limits>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A copy of a rank's recorder.
struct FlightLog {
  int rank = 0;
  int64_t step = 0;
  double moved = 0;
  bool hasLeft = false;
  std::vector<FlightEntry> entries; ///< the oldest first

  static FlightLog of(const FlightHeader &header, const FlightEntry *ring);
};

inline constexpr double kAtTheEnd = std::numeric_limits<double>::infinity();

/// Where a rank was at some time.
struct FlightState {
  const FlightEntry *wait = nullptr;   ///< that was under way
  const FlightEntry *action = nullptr; ///< the same, or the last one before
  bool isInAction = false;
  /// When the rank last did anything, no later than that time.
  double moved = 0;
};

FlightState stateAt(const FlightLog &log, double time = kAtTheEnd);

/// The recorders of the ranks of this host, by rank.
std::vector<FlightLog> readFlights(const std::string &folder);

/// The same for other programs. Times are seconds since the last that any rank
/// did, so none is greater than 0.
std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTLOG_H
