//===- PlanCommand.cpp - pcc plan: step time of a pipeline ----------------===//

#include "passes/Plan.h"
#include "runtime/base/NumberCheck.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

using namespace pcc;
using namespace pcc::tool;

namespace {
/// Arguments of `pcc plan`.
struct PlanRequest {
  /// Path of a model, which this command does not take yet.
  std::string model;
  PipelineRequest pipeline;
  bool json = false;
};
} // namespace

/// Error message for a path of a model.
static constexpr const char *noModel =
    "planning for a model is not available yet";

static std::string checkCount(const std::string &text) {
  constexpr int most = 1 << 16;
  return runtime::checkWholeNumber(text, 1, most);
}

/// Adds an option whose value is a whole number of at least 1.
static CLI::Option *addCount(CLI::App &app, const std::string &name, int &count,
                             const std::string &help) {
  return app.add_option(name, count, help)->type_name("N")->check(checkCount);
}

static void declare(CLI::App &app, PlanRequest &request) {
  app.name("pcc plan");
  app.description(
      "predicts the time of a step of a pipeline\n\nThe ranks of the pipeline "
      "are equal. Each action begins when its inputs have arrived and its rank "
      "is free.\n\nexample:\n  pcc plan --stage-times 0.019,0.018,0.009,0.001 "
      "--pp 8 --microbatches 24 --schedule zb-h1");
  app.add_option_function<std::string>(
         "MODEL",
         [&app, &request](const std::string &model) {
           // The value of an unknown option is no model, and the option is told
           // after this call.
           if (app.count("--stage-times") == 0)
             throw CLI::ParseError(noModel, Unsupported);
           request.model = model;
         })
      ->group("");
  app.add_option("--stage-times", request.pipeline.times,
                 "seconds of a rank for one microbatch: forward, gradient of "
                 "the input, gradient of the weights, and latency of a "
                 "transfer (default 0)")
      ->type_name("F,B,W[,SEND]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string &text) {
        return runtime::checkRealNumber(text, {.most = 1e9});
      })
      ->required();
  addCount(app, "--pp", request.pipeline.pp, "number of pipeline ranks")
      ->required();
  addCount(app, "--microbatches", request.pipeline.microbatches,
           "number of microbatches of a step")
      ->required();
  app.add_option("--schedule", request.pipeline.schedule, "pipeline schedule")
      ->type_name("NAME")
      ->required();
  addCount(app, "--virtual-stages", request.pipeline.virtualStages,
           "stages per pipeline rank, which share its times evenly (default 1, "
           "or 2 for interleaved and zb-v)");
  app.add_flag("--json", request.json, "print JSON");
}

void tool::declarePlan(CLI::App &app) {
  static PlanRequest request;
  declare(app, request);
}

int tool::planCommand(int argc, const char *const *argv) {
  PlanRequest request;
  CLI::App app;
  declare(app, request);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  if (!request.model.empty())
    return reportStatus(Status::error(Unsupported, noModel));
  std::string text;
  Status status = predictPipeline(request.pipeline, request.json, text);
  return reportStatus(status.ok() ? printText(text) : status);
}
