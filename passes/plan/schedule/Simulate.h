//===- Simulate.h - simulator of action tables ----------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Prices of a simulation. By default F, I and W take one unit and B takes two,
/// divided by the number of stages per position, and transfers take no time.
struct ActionCosts {
  /// Seconds of an action. If empty, the default units apply.
  std::function<double(const Action &)> seconds;
  /// Seconds from the end of an action to the arrival of its result at another
  /// position. Both positions can compute meanwhile. If empty, transfers take
  /// no time.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Returns the time of an action in a schedule of `numStages` stages on
  /// `numPositions` positions.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates a table. Every position runs its actions in order, one at a time,
/// each as soon as the position is free and the inputs of the action exist:
///  - F of stage s needs F of stage s - 1;
///  - B and I need the F of their own stage, and B or I of stage s + 1;
///  - W needs I of its own stage;
///  - part k of an update needs all parts before k, of all stages.
/// If positions wait forever, `stuck` of the result names their first such
/// actions, which are missing in the timeline.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns, by position, the largest number of forwards that are alive at once
/// (from F to B or W). All are 0 if the table has no backward pass.
std::vector<int> peakLive(const ActionTable &table);

/// Returns, by stage, the largest number of microbatches for which the stage
/// keeps activations at once. All are 0 if the table has no backward pass.
std::vector<int> peakLiveOfStages(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
