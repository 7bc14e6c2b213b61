//===- Simulate.h - simulator of action tables ----------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Durations that a simulation assumes for the actions of a pipeline and for
/// the transfers between stages.
struct ActionCosts {
  /// Function that returns the duration of an action in seconds. If no function
  /// is set, the simulation uses these durations, for a pipeline that runs v
  /// stages on each rank:
  ///  - F (forward), I (input gradient), W (weight gradient): 1 / v
  ///  - B (backward, which does the work of I and W): 2 / v
  ///  - all other actions: 0
  std::function<double(const Action &)> seconds;
  /// Seconds that a result needs to travel from stage `fromStage` to stage
  /// `toStage`, which is on another pipeline rank. Both ranks can compute
  /// during this time. If the function is empty, the result arrives at once.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Returns the duration of `action` in seconds. If the member `seconds` has a
  /// function, this function determines the duration. Otherwise, the duration
  /// depends on the kind of the action and on the number of stages per pipeline
  /// rank. `numPositions` is the number of ranks, and `numStages` is the number
  /// of stages on all ranks together. For example, with 4 ranks and 8 stages,
  /// each rank has 2 stages. An action F (forward) then takes 1 / 2 second.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates one step of a pipeline, and returns the start and the end of each
/// action. An action starts once its rank is free and its inputs have arrived.
/// If an input is never computed, the result lacks this action and all later
/// actions of the rank, and `stuck` gives the reason.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns for each pipeline rank the largest number of forwards that are in
/// flight at once. A forward of one stage and microbatch is in flight from F to
/// the end of B, or of W (weight gradient). Without a backward pass, all
/// numbers are 0.
std::vector<int> peakLive(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
