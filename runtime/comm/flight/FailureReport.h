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
  /// Time for which the error describes the activities of the ranks, in seconds
  /// of FlightRecorder::now(). The value kAtTheEnd means that the error
  /// describes the last recorded activity of each rank.
  ///
  /// explainLoss() adds one note (line of text) per rank to the error. If the
  /// value is kAtTheEnd, the note about a stuck rank ends with a text such as
  /// "has not moved for 2.1 s". For any other value, no note contains this
  /// text, because the duration is unknown. A waiting rank checks repeatedly
  /// whether the wait is over, but keeps only the time of the latest check. For
  /// example, a rank checks at 1 s, 2 s and 3 s, and keeps only 3 s. If `time`
  /// is 2.5 s, the last check before `time` was at 2 s, but the rank has not
  /// kept this time.
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
