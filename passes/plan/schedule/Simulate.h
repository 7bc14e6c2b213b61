//===- Simulate.h - simulator of action tables ----------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Prices of a simulation, in seconds. By default an F, I or W takes 1 / v and
/// a B 2 / v, where v is the number of stages per position, and transfers take
/// no time.
struct ActionCosts {
  /// Seconds that an action takes. If the function is empty, the default above
  /// applies: 1 / v for F, I and W, and 2 / v for B.
  std::function<double(const Action &)> seconds;
  /// Seconds that a result travels from stage `fromStage` to stage `toStage`,
  /// if the two stages run on different positions. Both positions can compute
  /// meanwhile. If the function is empty, the result arrives at once.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Returns the seconds of an action in a schedule with `numStages` stages on
  /// `numPositions` positions.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates a table and returns start and end of each action. Every position
/// runs its actions in order, one at a time. An action starts as soon as its
/// position is free and its inputs exist:
///  - F of stage s needs F of stage s - 1;
///  - B and I need the F of their own stage, and B or I of stage s + 1;
///  - W needs I of its own stage;
///  - part k of an update needs all parts before k, of all stages.
/// If some positions wait forever, `stuck` of the result names the action that
/// each of them waits at. The result lacks this action and those after it.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns, by position, the largest number of forwards that are in flight at
/// once (F has run, and B or W has not). All are 0 if the table has no backward
/// pass.
std::vector<int> peakLive(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
