//===- FailureReport.h - diagnosis of a failed run from flight logs -------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
#define PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H

#include "runtime/comm/flight/FlightLog.h"
#include "status/Status.h"

#include <optional>

namespace pcc::runtime {

/// Facts about a failed run that the ranks' flight logs do not contain.
struct LossClues {
  /// The rank whose process ended without an error report, if any.
  std::optional<int> lost = {};
  /// The rank that reported a missed deadline, if any. Ignored if `lost` is
  /// set.
  std::optional<int> waiter = {};
  /// Time of the failure, in seconds of FlightRecorder::now(), or kAtTheEnd for
  /// the end of the flight logs. The report states which ranks were stuck only
  /// for kAtTheEnd.
  double time = kAtTheEnd;
};

/// Returns `status` with more text about the ranks' activities:
///
/// - for a lost rank: its last activity, and one rank that waits for it
/// - for a missed deadline: the rank that blocks the waiting rank, and its last
///   activity
/// - one note per rank with its last activity, for at most 16 ranks
///
/// An example, in which 1B0 is the backward (B) of microbatch 0 on stage 1:
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
