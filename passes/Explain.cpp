//===- Explain.cpp - explanation of the communication of a plan -----------===//

#include "dialects/dist/DistDialect.h"
#include "passes/3-place/OtherCut.h"
#include "passes/Compile.h"
#include "passes/ExplainTrials.h"
#include "passes/OutputPaths.h"
#include "passes/PlanPage.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/explain/Explanation.h"
#include "passes/options/OptionAttrs.h"
#include "passes/options/OptionChecks.h"
#include "status/Suggestions.h"

using namespace pcc;

/// Explains the shardings of the tensors whose names match `name`, a name or a
/// glob. Runs the phases only up to 4-shard, because 5-localize erases the
/// reshard ops that the explanation needs. Returns exit code 2 if the model is
/// a dump of a later phase, or if no name matches.
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
    return Status::error(
        WrongUsage,
        "no weight, input, output, value or node is named '" + name + "'" +
            nearestOf(name, explain::namesOf(compilation.getModule())));
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

/// Runs the phases up to 2-prepare. Then stores in `others` different divisions
/// of the model into pipeline stages, with which the explanation can compare
/// the plan. Leaves `others` empty if phase 3-place has already divided the
/// model.
static Status findOtherCuts(Compilation &compilation,
                            place::OtherCuts &others) {
  if (phaseOf(compilation.getModule()) > Phase::Prepare)
    return Status::success();
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Prepare));
  return compilation.runGuarded([&]() -> Status {
    others = place::findOtherCuts(compilation.getModule());
    return Status::success();
  });
}

/// Adds `others` to `explanation`: the whole cut, and a place to each boundary
/// between two stages.
static void addOtherCuts(const place::OtherCuts &others,
                         explain::Explanation &explanation) {
  if (!others.whole.empty())
    explanation.otherCut = explain::Remedy{.stageAt = others.whole};
  for (explain::CutTraffic &cut : explanation.cuts) {
    const size_t at = cut.toStage - 1;
    if (cut.isOfUpdate)
      continue;
    if (at >= others.places.size()) {
      cut.otherReason = "--stage-at moves it only before phase 3-place";
    } else if (const auto &place = others.places[at]; place.names.empty()) {
      cut.otherReason = place.reason;
    } else {
      cut.otherNode = place.names[at];
      cut.other = explain::Remedy{.stageAt = place.names};
    }
  }
}

/// Runs the phases up to 6-schedule, after which all collectives are known.
/// Stores in `explanation` everything except the prices (time and memory).
static Status findReasons(Compilation &compilation,
                          const CompileOptions &options,
                          const plan::Cluster &cluster,
                          const Listener &listener,
                          explain::Explanation &explanation) {
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Schedule));
  return compilation.runGuarded([&]() -> Status {
    auto found = explain::explainModule(compilation.getModule(), cluster);
    if (!found)
      return found.status().prefixed("'" + options.model +
                                     "' cannot be explained: ");
    noteMissing(*found, listener);
    explanation = std::move(*found);
    return Status::success();
  });
}

/// Runs the remaining phases up to 7-emit. Stores in `explanation` the price of
/// the plan (time and memory of a step), and the prices of the options that the
/// explanation suggests.
static Status findPrices(Compilation &compilation,
                         const CompileOptions &options,
                         const Listener &listener,
                         explain::Explanation &explanation) {
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Emit));
  PCC_RETURN_IF_ERROR(compilation.runGuarded([&]() -> Status {
    PCC_ASSIGN_OR_RETURN(explanation.price,
                         emit::priceOf(compilation.getModule()));
    return Status::success();
  }));
  priceRemedies(options, listener, explanation);
  return Status::success();
}

/// Runs the phases, and stores the output of `pcc explain` in `explained`. If
/// `explainOptions.value` is empty, the text and the JSON explain the whole
/// plan. Otherwise, the text explains only the selected tensors, and the JSON
/// explains the selected tensors and the whole plan.
static Status explainPlan(Compilation &compilation,
                          const CompileOptions &options,
                          const ExplainOptions &explainOptions,
                          const Listener &listener, ExplainedModel &explained) {
  place::OtherCuts otherCuts;
  std::vector<explain::ValueExplanation> stories;
  const bool isAboutValues = !explainOptions.value.empty();
  PCC_RETURN_IF_ERROR(findOtherCuts(compilation, otherCuts));
  if (isAboutValues)
    PCC_RETURN_IF_ERROR(
        tellValues(compilation, options, explainOptions.value, stories));
  // Use the latencies and bandwidths of the cluster for which the plan was
  // made. The module records them.
  const plan::Cluster cluster =
      plan::clusterOf(dist::clusterOf(compilation.getModule()), options.target);
  explain::Explanation explanation;
  PCC_RETURN_IF_ERROR(
      findReasons(compilation, options, cluster, listener, explanation));
  addOtherCuts(otherCuts, explanation);
  if (!isAboutValues || explainOptions.json || !options.html.empty())
    PCC_RETURN_IF_ERROR(
        findPrices(compilation, options, listener, explanation));
  if (!options.html.empty()) {
    PlanPage page(options);
    page.add(explanation, cluster);
    PCC_RETURN_IF_ERROR(page.write());
  }
  explanation.values = std::move(stories);
  explained.text = explain::toText(
      explanation, cluster,
      {explainOptions.isVerbose, static_cast<size_t>(explainOptions.top)});
  if (explainOptions.json)
    explained.json = explain::toJson(explanation, cluster);
  return Status::success();
}

Status pcc::explainModel(const CompileOptions &asked,
                         const ExplainOptions &explainOptions,
                         ExplainedModel &explained, const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  PCC_RETURN_IF_ERROR(checkPage(options));
  return withCompilation(options, listener, [&](Compilation &compilation) {
    PCC_RETURN_IF_ERROR(compilation.load());
    return explainPlan(compilation, options, explainOptions, listener,
                       explained);
  });
}
