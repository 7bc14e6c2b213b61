//===- Plan.cpp - entry point of the planner ------------------------------===//

#include "passes/Plan.h"
#include "passes/plan/cluster/ClusterProfiles.h"
#include "passes/plan/schedule/StageTimes.h"
#include "status/Suggestions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace pcc;

static Status checkArguments(const PipelineRequest &request) {
  if (request.times.size() != 3 && request.times.size() != 4)
    return Status::error(WrongUsage,
                         "--stage-times needs three or four numbers, got " +
                             std::to_string(request.times.size()));
  const std::string wrong = checkWord(request.schedule, plan::scheduleNames());
  return wrong.empty() ? Status::success()
                       : Status::error(WrongUsage, "--schedule: " + wrong);
}

/// Returns the prediction `step` for the pipeline of `schedule` as JSON.
static std::string jsonOf(const plan::ScheduleRequest &schedule,
                          const plan::StepTime &step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("schedule", llvm::StringRef(plan::nameOf(schedule.kind)));
    json.attribute("pp", schedule.numPositions);
    json.attribute("virtual_stages", schedule.virtualStages);
    json.attribute("microbatches", schedule.numMicrobatches);
    json.attribute("seconds", step.seconds);
    json.attribute("bubble", step.bubble);
  });
  stream << "\n";
  return text;
}

Status pcc::predictPipeline(const PipelineRequest &request, bool asJson,
                            std::string &text) {
  PCC_RETURN_IF_ERROR(checkArguments(request));
  const plan::ScheduleKind kind = *plan::scheduleByName(request.schedule);
  const plan::ScheduleRequest schedule{kind, request.pp,
                                       request.virtualStages
                                           ? request.virtualStages
                                           : plan::defaultVirtualStages(kind),
                                       request.microbatches};
  const std::vector<double> &times = request.times;
  PCC_ASSIGN_OR_RETURN(
      const plan::StepTime step,
      plan::stepTime(schedule, {times[0], times[1], times[2],
                                times.size() > 3 ? times[3] : 0}));
  if (asJson)
    text = jsonOf(schedule, step);
  else
    llvm::raw_string_ostream(text)
        << llvm::format("%.6g s a step, of which a rank waits %.2f %%\n",
                        step.seconds, 100 * step.bubble);
  return Status::success();
}

std::string pcc::listClusters() { return plan::listClusters(); }
