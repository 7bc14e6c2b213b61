//===- Simulate.h - when every action runs --------------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
#define PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H

#include "passes/plan/schedule/ActionTable.h"
#include "runtime/timeline/Timeline.h"

#include <functional>

namespace pcc::plan {

using runtime::TimedAction;
using runtime::Timeline;

/// Prices of a simulation; the defaults are the units of the golden tables
/// (F = I = W = 1, B = 2, one position's work divided among its stages).
struct ActionCosts {
  /// Time of an action. If empty: `unit` divided by the stages per position.
  std::function<double(const Action &)> seconds;
  /// Time from the end of an action to the start of what needs its result on
  /// another position, which costs neither of them time.
  std::function<double(int fromStage, int toStage)> transferSeconds;

  /// Time of an action where `numStages` are divided among `numPositions`.
  double secondsOf(const Action &action, int numPositions, int numStages) const;
};

/// Runs the table: every position takes its actions in order, one at a time,
/// each as soon as the position is free and what it needs is there. F of stage
/// s needs F of s-1; B and I need their own F and the B or I of s+1; W needs
/// its own I; an update needs all of its stage's actions before it, which the
/// order of the position gives.
Timeline simulate(const ActionTable &table, const ActionCosts &costs = {});

/// Most forwards that are alive at once (F until B or W), by position.
std::vector<int> peakLive(const ActionTable &table);
/// The same by stage: the microbatches for which a stage keeps activations.
std::vector<int> peakLiveOfStages(const ActionTable &table);

/// Draws a chart with a row per position and `width` columns: an F, B, I, W or
/// U wherever the position works and a dot where it is idle.
std::string drawTimeline(const Timeline &timeline, int width = 100);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SIMULATE_H
