//===- Explain.cpp - explanation of the communication of a plan -----------===//

#include "dialects/dist/DistDialect.h"
#include "passes/Compile.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/explain/Explanation.h"
#include "passes/options/OptionAttrs.h"
#include "llvm/ADT/StringExtras.h"

using namespace pcc;

/// Stores the explanations of the values that match `name` in `stories`. Runs
/// only the phases up to 4-shard, because 5-localize erases the reshards. If no
/// value matches, returns exit code 2 and the most similar names.
static Status tellValues(Compilation &compilation,
                         const CompileOptions &options, const std::string &name,
                         std::vector<explain::ValueExplanation> &stories) {
  const Phase passed = phaseOf(compilation.getModule());
  if (passed > Phase::Shard)
    return Status::error(
        WrongUsage,
        "'" + options.model + "' is a dump of " +
            std::string(folderOf(passed)) +
            ", which does not tell where a sharding came from; explain " + "'" +
            name + "' in the dump of 4-shard, or in the model");
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Shard));
  return compilation.runGuarded([&]() -> Status {
    stories = explain::explainValues(compilation.getModule(), name);
    if (!stories.empty())
      return Status::success();
    std::vector<std::string> names;
    for (const std::string &near :
         explain::findSimilarNames(compilation.getModule(), name))
      names.push_back("'" + near + "'");
    return Status::error(
        WrongUsage, "no weight, input, output or value is named '" + name +
                        "'; nearest: " +
                        (names.empty() ? "none" : llvm::join(names, ", ")));
  });
}

/// Passes a note to the listener if collectives lack a recorded cause. Old or
/// edited dumps may lack causes.
static void noteMissing(const explain::Explanation &explanation,
                        const Listener &listener) {
  const auto missing = llvm::count_if(
      explanation.collectives, [](const auto &entry) { return !entry.cause; });
  if (missing > 0)
    listener.onNote("the dump does not tell why " + std::to_string(missing) +
                    " of its collectives are there: their locations hold no "
                    "cause");
}

/// Runs the phases up to 6-schedule and stores an explanation of all
/// collectives in `text`. Also explains the values that `explainOptions.value`
/// names.
static Status explainPlan(Compilation &compilation,
                          const CompileOptions &options,
                          const ExplainOptions &explainOptions,
                          const Listener &listener, std::string &text) {
  std::vector<explain::ValueExplanation> stories;
  if (!explainOptions.value.empty())
    PCC_RETURN_IF_ERROR(
        tellValues(compilation, options, explainOptions.value, stories));
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Schedule));
  return compilation.runGuarded([&]() -> Status {
    // Use the latencies and bandwidths of the cluster for which the plan was
    // made. The module records them.
    const plan::Cluster cluster = plan::clusterOf(
        dist::clusterOf(compilation.getModule()), options.target);
    auto explanation = explain::explainModule(compilation.getModule(), cluster);
    if (!explanation)
      return explanation.status().prefixed("'" + options.model +
                                           "' cannot be explained: ");
    noteMissing(*explanation, listener);
    explanation->values = std::move(stories);
    text = explainOptions.json ? explain::toJson(*explanation, cluster)
                               : explain::toText(*explanation, cluster);
    return Status::success();
  });
}

Status pcc::explainModel(const CompileOptions &asked,
                         const ExplainOptions &explainOptions,
                         std::string &text, const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  return withCompilation(options, listener, [&](Compilation &compilation) {
    PCC_RETURN_IF_ERROR(compilation.load());
    return explainPlan(compilation, options, explainOptions, listener, text);
  });
}
