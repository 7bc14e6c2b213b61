//===- Simulate.h - simulator of action tables ----------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Prices of a simulation, in seconds.
struct ActionCosts {
  /// Seconds of an action. If empty, with v stages per pipeline position:
  ///  - F (forward), I (input gradient), W (weight gradient): 1 / v
  ///  - B (whole backward): 2 / v
  ///  - all others: 0
  std::function<double(const Action &)> seconds;
  /// Seconds that a result needs to travel from stage `fromStage` to stage
  /// `toStage`, which is on another pipeline position. Both positions can
  /// compute during this time. If the function is empty, the result arrives at
  /// once.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Returns the seconds of an action in a schedule with `numStages` stages on
  /// `numPositions` pipeline positions.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates an action table and returns the start and end of each action.
/// Every pipeline position runs its actions in order, one at a time. An action
/// starts as soon as its position is free and its inputs exist:
///  - F (forward) of stage s needs F of stage s - 1.
///  - B (backward) and I (input gradient) of stage s need F of stage s, and B
///    or I of stage s + 1.
///  - W (weight gradient) needs I of its own stage.
///  - U (optimizer update) can have numbered parts U0, U1, …. A part needs all
///    parts with smaller numbers, of all stages.
///
/// If positions wait forever, `stuck` of the result names the action at which
/// each waits. The result then lacks this action and later ones.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns, for each pipeline position, the largest number of forwards in
/// flight at once. A forward is in flight from action F to action B (backward)
/// or W (weight gradient). Without a backward pass, all numbers are 0.
std::vector<int> peakLive(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
