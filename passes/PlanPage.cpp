//===- PlanPage.cpp - page of a compilation or an explanation (--html) ----===//

#include "passes/PlanPage.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/report/BundleSummary.h"
#include "runtime/report/ExplanationSummary.h"
#include "runtime/report/ReportPage.h"

#include <filesystem>

using namespace pcc;
using Json = nlohmann::ordered_json;

/// Returns the command line of the user, which `options.command` has without
/// --dim, followed by one --dim per entry of `options.dims`, such as --dim
/// batch=8. Returns an empty string if the command line is unknown.
static std::string wholeCommand(const CompileOptions &options) {
  std::string command = options.command;
  if (!command.empty())
    for (const auto &[name, size] : options.dims)
      command += " --dim " + name + "=" + std::to_string(size);
  return command;
}

/// Returns the name of the model file, with the name of its folder if the path
/// has one. Many models are called model.onnx.
static std::string titleOf(const std::filesystem::path &model) {
  const std::filesystem::path folder = model.parent_path().filename();
  return (folder / model.filename()).string();
}

void PlanPage::add(const explain::Explanation &explanation,
                   const plan::Cluster &cluster) {
  source["explain"] = runtime::summarizeExplanation(
      Json::parse(explain::toJson(explanation, cluster)));
}

Status PlanPage::addBundle(const std::string &bundle) {
  return runtime::addBundle(bundle, source);
}

Status PlanPage::write() const {
  Json titled = {{"kind", source.contains("bundle") ? "compile" : "explain"},
                 {"title", titleOf(options.model)},
                 {"command", wholeCommand(options)}};
  titled.update(source);
  return runtime::writeFileAtomically(
      options.html, runtime::reportPage(Json::array({std::move(titled)})));
}
