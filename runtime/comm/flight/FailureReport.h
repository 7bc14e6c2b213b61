//===- FailureReport.h - diagnosis of a failed run from flight logs -------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
#define PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H

#include "runtime/comm/flight/FlightLog.h"
#include "status/Status.h"

#include <optional>

namespace pcc::runtime {

/// Argument of explainLoss(), which adds text to the error message of a failed
/// run. The text describes the activities of the ranks. explainLoss() reads the
/// activities from the flight logs. A flight log lists the latest activities of
/// one rank. This struct contains facts that are not in the flight logs. For
/// example, it contains the rank whose process has ended too early.
struct LossClues {
  /// The rank whose process ended without an error report, if any.
  std::optional<int> lost = {};
  /// The rank that reported the error of the run, if known. Usually, this rank
  /// waited for other ranks for longer than the limit (World::deadline()).
  /// explainLoss() then searches for the rank that caused the wait. For
  /// example, the search finds rank 2 if rank `waiter` waits for rank 1, rank 1
  /// waits for rank 2, and rank 2 computes. explainLoss() does not search if
  /// `lost` is set.
  std::optional<int> waiter = {};
  /// Time for which explainLoss() describes the activities of the ranks, in
  /// seconds of the host's steady clock (FlightRecorder::now()). With
  /// kAtTheEnd, explainLoss() describes the last recorded activity of each
  /// rank.
  ///
  /// Only with kAtTheEnd, a line about a stuck rank ends with a text such as
  /// "has not moved for 2.1 s". A flight log contains only the time of the
  /// latest check by which a waiting rank showed that it is alive. For any
  /// earlier time, the duration is therefore unknown.
  double time = kAtTheEnd;
};

/// Returns a copy of the error `status` with text about the ranks' activities,
/// which the logs `flights` contain. If `clues.lost` is set, the message also
/// describes the activities of this rank and of one rank that waits for it:
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h with rank 2
///
/// Otherwise the message names the rank that blocks `clues.waiter`, if one is
/// found. One note (line) per rank follows, for at most 16 ranks.
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
