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
  /// Time for which explainLoss() describes the activities of the ranks. The
  /// time is in seconds of the host's steady clock (FlightRecorder::now()). If
  /// the value is kAtTheEnd, explainLoss() describes the last recorded activity
  /// of each rank.
  ///
  /// explainLoss() adds one note (line of text) per rank to the error. The note
  /// about a stuck rank ends with a text such as "has not moved for 2.1 s", if
  /// the value is kAtTheEnd. For any other value, no note contains this text.
  ///
  /// The reason for the difference: a waiting rank checks repeatedly whether
  /// the wait is over. Each check shows that the rank is alive. The flight log
  /// of the rank contains only the time of the latest check. For example, a
  /// rank checks at 1 s, 2 s and 3 s, and its flight log contains only 3 s. If
  /// `time` is 2.5 s, explainLoss() needs the time of the check at 2 s, but the
  /// flight log does not contain it.
  double time = kAtTheEnd;
};

/// Returns a copy of the error `status` with more text about the activities of
/// the ranks at the time `clues.time`. `flights` contains the flight logs of
/// the ranks. A flight log lists the latest activities of one rank.
///
/// `clues.lost` is a rank whose process ended without an error report. If
/// `clues.lost` is set, the function appends two facts to the error message:
/// the activity of this rank, and the activity of one rank that waits for this
/// rank. In this example, `clues.lost` is 2, and action 1B0 is the backward (B)
/// of microbatch 0 on stage 1:
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h with rank 2
///
/// `clues.waiter` is the rank that reported the error, usually because it
/// waited too long for another rank. If `clues.waiter` is set and `clues.lost`
/// is not set, the function searches for the rank that caused this wait. If the
/// search succeeds, the function appends the number and the activity of the
/// found rank to the error message.
///
/// In all cases, the function also adds notes to the error. A note is a line of
/// text that follows the error message. There is one note about the activity of
/// each rank in `flights`, for at most 16 ranks. If `flights` has 20 ranks, one
/// more note says "and 4 more ranks".
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
