//===- ReportCommand.cpp - pcc report: plans and runs as a page -----------===//

#include "runtime/base/AtomicFile.h"
#include "runtime/base/ScopedFolder.h"
#include "runtime/report/ReportPage.h"
#include "runtime/report/ReportSources.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace pcc;
using namespace pcc::tool;
using Json = nlohmann::ordered_json;

namespace {
/// Arguments of `pcc report`.
struct ReportRequest {
  std::vector<std::string> files;
  std::string output;
  bool follows = false;
};
} // namespace

static void declare(CLI::App &app, ReportRequest &request) {
  app.name("pcc report");
  app.description(
      "draws plans, runs and trainings as one self-contained page\n\nSeveral "
      "of them are side by side. The content of a file tells its kind: the "
      "JSON of inspect, explain, plan, --report or --measurements, the lines "
      "of --metrics; or a bundle.\n\nexamples:\n"
      "  pcc report m.jsonl -o training.html --follow\n"
      "  pcc report model.pcc tp2.pcc -o plans.html\n"
      "  pcc report run.json -o run.html");
  app.add_option("FILE", request.files, "files or bundles to show")->required();
  app.add_option("-o,--output", request.output, "the page")
      ->type_name("FILE.html")
      ->required();
  app.add_flag("--follow", request.follows,
               "write the page again every 5 seconds, until no run writes to a "
               "--metrics file; the page loads itself again");
}

void tool::declareReport(CLI::App &app) {
  static ReportRequest request;
  declare(app, request);
}

/// Writes the page once. Sets `follows` to whether a run still writes to one of
/// the files.
static Status writeOnce(const ReportRequest &request, bool &follows) {
  // The files are read after this look, so that no last line is missed.
  follows =
      request.follows && std::any_of(request.files.begin(), request.files.end(),
                                     runtime::isBeingWritten);
  std::vector<runtime::ReportInput> inputs;
  for (const std::string &file : request.files)
    inputs.push_back({file});
  Json sources;
  PCC_RETURN_IF_ERROR(runtime::readReportSources(inputs, sources));
  const bool hasMetrics =
      std::any_of(sources.begin(), sources.end(), [](const Json &source) {
        return source.contains("metrics");
      });
  if (request.follows && !hasMetrics)
    return Status::error(WrongUsage,
                         "--follow needs a file that --metrics writes");
  return runtime::writeFileAtomically(request.output,
                                      runtime::reportPage(sources, follows));
}

static Status report(const ReportRequest &request) {
  bool follows = false;
  do {
    PCC_RETURN_IF_ERROR(writeOnce(request, follows));
    if (follows)
      std::this_thread::sleep_for(std::chrono::seconds(5));
  } while (follows);
  return Status::success();
}

int tool::reportCommand(int argc, const char *const *argv) {
  ReportRequest request;
  CLI::App app;
  declare(app, request);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  runtime::ScopedFolder::removeAllOnSignals();
  return reportStatus(report(request));
}
