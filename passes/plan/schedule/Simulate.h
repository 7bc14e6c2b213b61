//===- Simulate.h - simulator of action tables ----------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Prices of a simulation, in seconds. By default an F (forward), I (input
/// gradient) or W (weight gradient) takes 1 / v seconds and a B (whole
/// backward) takes 2 / v seconds. v is the number of stages per position (rank
/// of the pipeline). By default transfers take no time.
struct ActionCosts {
  /// Seconds that an action takes. If the function is empty, an F (forward), I
  /// (input gradient) or W (weight gradient) takes 1 / v seconds and a B (whole
  /// backward) takes 2 / v seconds. v is the number of stages per pipeline
  /// position. All other actions take no time.
  std::function<double(const Action &)> seconds;
  /// Seconds that a result travels from stage `fromStage` to stage `toStage`,
  /// if the two stages run on different pipeline positions. Both positions can
  /// compute meanwhile. If the function is empty, the result arrives at once.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Returns the seconds of an action in a schedule with `numStages` stages on
  /// `numPositions` pipeline positions.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Simulates a table and returns start and end of each action. Every position
/// (rank of the pipeline) runs its actions in order, one at a time. An action
/// starts as soon as its position is free and its inputs exist:
///  - F (forward) of stage s needs F of stage s - 1;
///  - B (backward) and I (input gradient) of stage s need the F of stage s, and
///    B or I of stage s + 1;
///  - W (weight gradient) needs I of its own stage;
///  - part k of an update needs all parts before k, of all stages.
/// If some positions wait forever, `stuck` of the result names the action at
/// which each of them waits. The result then lacks this action and those after
/// it.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Returns, for each pipeline position, the largest number of forwards that are
/// in flight at once. A forward is in flight if its F (forward action) has run,
/// and its B (backward) or W (weight gradient) has not. All numbers are 0 if
/// the table has no backward pass.
std::vector<int> peakLive(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
