//===- FailureReport.h - where each rank was when a run failed ------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
#define PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H

#include "runtime/base/Status.h"
#include "runtime/comm/flight/FlightLog.h"

#include <optional>

namespace pcc::runtime {

/// What is known besides the recorders.
struct LossClues {
  std::optional<int> lost = {};   ///< the rank that was lost
  std::optional<int> waiter = {}; ///< the rank that waited in vain
  /// When the run failed; ranks that go on afterwards are looked at as they
  /// were then. At the end: ranks of which none is heard any more, and those
  /// that wait say so again and again.
  double time = kAtTheEnd;
};

/// The same error, told in full: its line ends with where the lost rank was and
/// who misses it, or with the rank at which a chain of waiting ranks ends; the
/// notes say where each rank was.
///
///   rank 2 was lost: it was ended by signal 9 (Killed); step 12, action 1B0;
///   rank 3 waits for it: step 12, action 1B0, all_reduce of h
Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues);

/// The rank that keeps `waiter` waiting: of those that it waits for, directly
/// or through others that wait, one that does not wait itself or that has not
/// moved. Nothing if they wait for each other, or if it is not known.
std::optional<int> findCulprit(const std::vector<FlightLog> &flights,
                               int waiter, double time = kAtTheEnd);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FAILUREREPORT_H
