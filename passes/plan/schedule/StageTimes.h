//===- StageTimes.h - step time of a pipeline of equal ranks --------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_STAGETIMES_H
#define PCC_PASSES_PLAN_SCHEDULE_STAGETIMES_H

#include "passes/plan/schedule/Schedules.h"

namespace pcc::plan {

/// Seconds that one pipeline rank needs for one microbatch. If the rank runs
/// several stages, each takes an equal share.
struct StageTimes {
  double forward = 0;
  /// Gradient of the input, and gradient of the weights.
  double inputGradient = 0, weightGradient = 0;
  /// Latency of a transfer between two stages. Both ranks can compute
  /// meanwhile.
  double transfer = 0;
};

/// Time of one step of a pipeline.
struct StepTime {
  double seconds = 0;
  /// Share of the step in which a rank waits: 1 − its work / seconds.
  double bubble = 0;
};

/// Simulates one step of a pipeline with the schedule of `request`. Returns an
/// error with exit code 6 if there is no such schedule, or if the step has more
/// than 2^24 forwards.
StatusOr<StepTime> stepTime(const ScheduleRequest &request,
                            const StageTimes &times);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_STAGETIMES_H
