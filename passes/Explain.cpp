//===- Explain.cpp - explanation of the communication of a plan -----------===//

#include "dialects/dist/DistDialect.h"
#include "passes/Compile.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/explain/Explanation.h"
#include "passes/options/OptionAttrs.h"
#include "llvm/ADT/StringExtras.h"

using namespace pcc;

/// Explains the values (tensors) of the model whose names match `name`, a name
/// or a glob. Stores one explanation per value in `stories`. An explanation
/// states the sharding of the value, the reasons for it, and the ops that read
/// the value.
///
/// Runs the phases of the compiler up to 4-shard and no later phase. After
/// 4-shard, the module contains a reshard op for each change of a sharding. The
/// explanation needs the reshard ops. The next phase, 5-localize, erases the
/// reshard ops. Errors:
///  - exit code 2: the model is the dump of a phase after 4-shard;
///  - exit code 2: no value matches `name`. The message lists the most similar
///    names.
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

/// Sends a note to the user through `listener` if `explanation` has collectives
/// without a cause. The cause of a collective is the op that produces its
/// operand, and the ops that need this operand in another sharding. Phase
/// 4-shard records the causes in the IR. The model may be a dump (an .mlir file
/// that pcc has written after a phase). Causes may be missing in a dump that
/// the user has edited, and in a dump from an old version of pcc.
static void noteMissing(const explain::Explanation &explanation,
                        const Listener &listener) {
  const auto missing = llvm::count_if(
      explanation.collectives, [](const auto &entry) { return !entry.cause; });
  if (missing > 0)
    listener.onNote("the dump does not tell why " + std::to_string(missing) +
                    " of its collectives are there: their locations hold no "
                    "cause");
}

/// Runs the phases of the compiler up to 6-schedule, after which all
/// collectives are known, and stores the output of `pcc explain` in `text`.
/// `explainOptions.value` is a name or glob of values (tensors), or empty. If
/// it is empty, the output explains the collectives: the ops that need each
/// collective, and its predicted time. Otherwise, text output explains only the
/// shardings of the selected values. JSON output explains the collectives and
/// these shardings.
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
