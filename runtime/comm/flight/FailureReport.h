//===- FailureReport.h - diagnosis of a failed run from flight logs -------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
#define PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H

#include "runtime/comm/flight/FlightLog.h"
#include "status/Status.h"

#include <optional>

namespace pcc::runtime {

/// Facts about a failed run that the ranks' flight logs do not contain.
struct LossClues {
  /// The rank whose process ended without a report, if any.
  std::optional<int> lost = {};
  /// The rank that reported a missed deadline, if any. Ignored if `lost` is
  /// set.
  std::optional<int> waiter = {};
  /// Time of the failure, in seconds of FlightRecorder::now(). The states of
  /// the ranks at this time are examined. With kAtTheEnd the last states in the
  /// logs are examined. A rank without a recent sign of life then counts as
  /// standing still, because waiting ranks send heartbeats.
  double time = kAtTheEnd;
};

/// Returns `status` with a longer message and more notes. For a lost rank the
/// message adds where that rank was and which rank waits for it. For a missed
/// deadline the message adds the culprit and where it was. The culprit is found
/// from the ranks that the waiter waits for, the ranks for which those wait,
/// and so on: it is the first rank that does not wait or shows no sign of life.
/// There is none if the ranks wait for each other in a cycle, or if the logs do
/// not tell. One note per rank, for at most 16 ranks, tells where the rank was.
/// An example of a message:
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
