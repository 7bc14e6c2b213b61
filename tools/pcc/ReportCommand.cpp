//===- ReportCommand.cpp - pcc report: plans and runs as a page -----------===//

#include "runtime/base/AtomicFile.h"
#include "runtime/base/InheritedState.h"
#include "runtime/base/QuantityText.h"
#include "runtime/base/ScopedFolder.h"
#include "runtime/base/claim/FileClaims.h"
#include "runtime/report/ReportPage.h"
#include "runtime/report/ReportSources.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>

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
               "--metrics file; the page loads itself again until then");
}

void tool::declareReport(CLI::App &app) {
  static ReportRequest request;
  declare(app, request);
}

/// Returns an error if the page would replace a file that it shows, or part of
/// a bundle that it shows.
static Status checkOutput(const ReportRequest &request) {
  runtime::FileClaims claims;
  for (const std::string &file : request.files)
    claims.keep("the page shows", file);
  claims.write("-o", request.output);
  return claims.check();
}

/// Writes the page once. `followedAt` is the time of a page that will be
/// written again.
static Status writeOnce(const ReportRequest &request,
                        std::optional<int64_t> followedAt) {
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
                                      runtime::reportPage(sources, followedAt));
}

/// Ends this process by `signal`, as if the process had not caught it.
static void endBySignal(int signal, const sigset_t &blocked) {
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  raise(signal);
}

/// Writes the page every five seconds until no run writes to one of the files,
/// or a signal comes. Signals wait while the page is written, so that the last
/// page is whole and does not load itself again.
static Status follow(const ReportRequest &request) {
  const sigset_t ending = runtime::endingSignals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  int signal = -1;
  // The files are read after each look at them, so that no last line is missed.
  while (signal < 0 && std::any_of(request.files.begin(), request.files.end(),
                                   runtime::isBeingWritten)) {
    PCC_RETURN_IF_ERROR(writeOnce(request, std::time(nullptr)));
    const timespec pause = {.tv_sec = 5, .tv_nsec = 0};
    signal = sigtimedwait(&ending, nullptr, &pause);
  }
  Status last = writeOnce(request, std::nullopt);
  if (signal > 0)
    endBySignal(signal, ending);
  return last;
}

int tool::reportCommand(int argc, const char *const *argv) {
  ReportRequest request;
  CLI::App app;
  declare(app, request);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  if (Status status = checkOutput(request); status.failed())
    return reportStatus(status);
  if (!request.follows)
    runtime::ScopedFolder::removeAllOnSignals();
  const Status status =
      request.follows ? follow(request) : writeOnce(request, std::nullopt);
  if (status.ok())
    printResult(request.output + ": " +
                runtime::countText(int64_t(request.files.size()), "file") +
                " as a page");
  return reportStatus(status);
}
