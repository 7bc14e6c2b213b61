//===- StageTimes.cpp - step time of a pipeline of equal ranks ------------===//

#include "passes/plan/schedule/StageTimes.h"
#include "passes/plan/schedule/Simulate.h"

namespace pcc::plan {

/// Returns the seconds of an action of `kind` on a rank with one stage.
static double secondsOf(ActionKind kind, const StageTimes &times) {
  switch (kind) {
  case ActionKind::Forward:
    return times.forward;
  case ActionKind::Backward:
    return times.inputGradient + times.weightGradient;
  case ActionKind::InputGradient:
    return times.inputGradient;
  case ActionKind::WeightGradient:
    return times.weightGradient;
  default:
    return 0;
  }
}

StatusOr<StepTime> stepTime(const ScheduleRequest &request,
                            const StageTimes &times) {
  constexpr int64_t most = 1 << 24;
  const int64_t count = int64_t(request.numPositions) * request.virtualStages *
                        request.numMicrobatches;
  if (count > most)
    return Status::error(CannotMeet, "a step of " + std::to_string(count) +
                                         " forwards is too long to simulate, " +
                                         std::to_string(most) +
                                         " are the most");
  PCC_ASSIGN_OR_RETURN(const ActionTable table, makeSchedule(request));
  const ActionCosts costs{[&](const Action &action) {
                            return secondsOf(action.kind, times) /
                                   request.virtualStages;
                          },
                          [&](int, int) { return times.transfer; }};
  StepTime step{simulate(table, costs).makespan};
  const double work =
      request.numMicrobatches *
      (times.forward + times.inputGradient + times.weightGradient);
  step.bubble = step.seconds > 0 ? 1 - work / step.seconds : 0;
  return step;
}

} // namespace pcc::plan
