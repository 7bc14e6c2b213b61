//===- FailureReport.h - diagnosis of a failed run from flight logs -------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
#define PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H

#include "runtime/comm/flight/FlightLog.h"
#include "status/Status.h"

#include <optional>

namespace pcc::runtime {

/// Facts about a failed run for explainLoss(). They supplement the ranks'
/// flight logs. A flight log lists the latest activities of one rank.
struct LossClues {
  /// The rank whose process ended without an error report, if any.
  std::optional<int> lost = {};
  /// The rank that reported the error of the run, if known. This rank usually
  /// waited for other ranks for longer than the limit (World::deadline()). If
  /// `lost` is not set, explainLoss() searches for the rank that blocks
  /// `waiter`.
  std::optional<int> waiter = {};
  /// Time for which the report describes the activities of the ranks, in
  /// seconds of FlightRecorder::now(). kAtTheEnd means that the report
  /// describes the last recorded activity of each rank.
  ///
  /// For any other time, the note about a rank does not state for how long the
  /// rank has been stuck. A rank that waits polls repeatedly. The rank's flight
  /// log (list of its latest activities) keeps only the time of the latest
  /// poll. The time of the last poll before `time` is therefore unknown.
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
