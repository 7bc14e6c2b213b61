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
  /// Time of the failure, in seconds of FlightRecorder::now(). The report
  /// describes the activities of the ranks at this time. kAtTheEnd selects the
  /// end of the flight logs. For any other time, the report cannot state which
  /// ranks were stuck, because a log has only the rank's latest heartbeat.
  double time = kAtTheEnd;
};

/// Returns `status` with a longer message and more notes. The message states,
/// in addition,
///
/// - if a rank was lost: its last activity, and one rank that waits for it
/// - if a rank missed a deadline: the rank that blocks it, and the last
///   activity of the blocking rank
///
/// An example of a blocking rank: rank 0 waits for rank 1, rank 1 waits for
/// rank 2, and rank 2 computes. Rank 2 then blocks rank 0. No rank is named if
/// ranks wait for each other in a cycle, or if logs are missing.
///
/// Each note states the last activity of one rank, for at most 16 ranks. An
/// example of a message, in which 1B0 is the backward (B) of microbatch 0 on
/// stage 1:
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
