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

  /// Returns the seconds of an action in a schedule with `numStages` stages on
  /// `numPositions` pipeline ranks.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates an action table and returns the start and end of each action.
/// Every pipeline rank runs its actions in order, one at a time. An action
/// starts as soon as its rank is free and its inputs exist:
///  - F (forward) of stage s needs F of stage s - 1.
///  - B (backward) and I (input gradient) of stage s need F of stage s, and B
///    or I of stage s + 1.
///  - W (weight gradient) needs I of its own stage.
///  - U (optimizer update) can have numbered parts U0, U1, …. A part needs all
///    parts with smaller numbers, of all stages.
///
/// If ranks wait forever, `stuck` of the result names the action at which each
/// waits. The result then lacks this action and later ones.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns, for each pipeline position, the largest number of forwards that are
/// in flight at once. A pipeline position is one rank of the pipeline. A
/// forward is the forward pass of one stage for one microbatch. The forward is
/// in flight from its action F until its backward pass ends. The backward pass
/// is one action B. A schedule can divide B into I (input gradient) and W
/// (weight gradient). The backward pass then ends with W. For example, the peak
/// of the actions F0 F1 B0 F2 B1 B2 is 2. If the table has no backward pass,
/// all numbers are 0.
std::vector<int> peakLive(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
