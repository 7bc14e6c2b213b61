//===- RunPage.cpp - page of a run (pcc run --html) -----------------------===//

#include "tools/pcc/RunPage.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Unfinished.h"
#include "runtime/launch/RunBundle.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/report/BundleSummary.h"
#include "runtime/report/ReportPage.h"
#include "runtime/report/ReportSources.h"

#include <filesystem>
#include <fstream>

using namespace pcc;
using namespace pcc::tool;
using Json = nlohmann::ordered_json;

/// Checks before a long run whether the page can be created.
static Status checkPage(const std::string &page) {
  if (runtime::isWrittenInPlace(page))
    return Status::success();
  runtime::Unfinished probe;
  return probe.createFile(page);
}

/// Adds the lines of --metrics, if it names a regular file.
static void addMetrics(const std::string &path, Json &source) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error))
    return;
  std::ifstream file(path, std::ios::binary);
  Json lines = runtime::parseMetrics(
      {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  if (!lines.empty())
    source["metrics"] = std::move(lines);
}

/// Adds what the file `measurements`, which rank 0 has written, tells to
/// `source`, which has what the bundle tells. Writes the page.
static Status writePage(const RunRequest &request,
                        const std::string &measurements, Json source) {
  Json report = Json::parse(std::ifstream(measurements), nullptr,
                            /*allow_exceptions=*/false);
  if (!report.is_object())
    return Status::error(InputOutput,
                         "cannot write '" + request.html +
                             "': rank 0 has left no measurements on this host");
  runtime::addRunReport(std::move(report), source);
  addMetrics(request.options.metrics, source);
  return runtime::writeFileAtomically(
      request.html, runtime::reportPage(Json::array({std::move(source)})));
}

/// Rank 0 writes its measurements to a temporary file, and this process makes
/// the page. The ranks check that the page replaces no file of theirs.
Status tool::runWithPage(RunRequest request,
                         std::vector<std::string> arguments) {
  PCC_RETURN_IF_ERROR(checkPage(request.html));
  Json source = {{"kind", "run"},
                 {"title", runtime::nameOfPath(request.bundle)},
                 {"command", request.command}};
  PCC_RETURN_IF_ERROR(runtime::addBundle(request.bundle, source));
  runtime::PrivateFolder folder;
  PCC_RETURN_IF_ERROR(folder.create());
  std::string measurements = request.options.measurements;
  if (measurements.empty() || runtime::isWrittenInPlace(measurements)) {
    measurements = folder.path() + "/measurements.json";
    request.options.measurements = measurements;
    arguments.push_back("--measurements=" + measurements);
  }
  request.options.page = request.html;
  arguments.push_back("--page=" + request.html);
  Status status =
      runtime::runBundle(request.bundle, request.options, arguments);
  if (!std::filesystem::exists(measurements) && status.failed())
    return status;
  Status written = writePage(request, measurements, std::move(source));
  return status.failed() ? status : written;
}
