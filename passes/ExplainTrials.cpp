//===- ExplainTrials.cpp - prices of options that pcc explain names -------===//

#include "passes/ExplainTrials.h"
#include "passes/Compile.h"
#include "passes/driver/Compilation.h"
#include "passes/options/OptionChecks.h"

using namespace pcc;

/// Returns a copy of `options` with the changes that `remedy` suggests, such as
/// another --shard or --tp. The copy lacks the options that write files.
static CompileOptions optionsWith(CompileOptions options,
                                  const explain::Remedy &remedy) {
  llvm::append_range(options.shards, remedy.shards);
  if (!remedy.stageAt.empty())
    options.stageAt = remedy.stageAt;
  for (const auto &[axis, size] : remedy.axes)
    options.axes[axis] = size;
  llvm::erase_if(options.shards, [&](const std::string &shard) {
    return "--shard '" + shard + "'" == remedy.omitted;
  });
  options.dumpDirectory.clear();
  options.html.clear();
  options.report.clear();
  return options;
}

/// Compiles the model with `options`, and returns the predicted costs of the
/// plan (time and memory); nullopt if the compilation fails.
static std::optional<emit::PlanPrice> priceOf(const CompileOptions &options,
                                              const Listener &listener) {
  std::optional<emit::PlanPrice> price;
  if (checkOptions(options).failed())
    return price;
  const Status tried =
      withCompilation(options, listener, [&](Compilation &compilation) {
        PCC_RETURN_IF_ERROR(compilation.load());
        PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Emit));
        return compilation.runGuarded([&]() -> Status {
          PCC_ASSIGN_OR_RETURN(price, emit::priceOf(compilation.getModule()));
          return Status::success();
        });
      });
  return tried.ok() ? price : std::nullopt;
}

void pcc::priceRemedies(const CompileOptions &options, const Listener &listener,
                        explain::Explanation &explanation) {
  size_t trialsLeft = 4;
  Listener silent;
  silent.isGivenUp = listener.isGivenUp;
  const auto price = [&](std::optional<explain::Remedy> &remedy) {
    if (!remedy || trialsLeft == 0)
      return;
    --trialsLeft;
    remedy->price = ::priceOf(optionsWith(options, *remedy), silent);
    if (!remedy->price ||
        explain::differenceText(*explanation.price, *remedy->price).empty())
      remedy.reset();
  };
  price(explanation.otherCut);
  if (explanation.otherCut && explanation.otherCut->price &&
      explanation.otherCut->price->seconds > explanation.price->seconds)
    explanation.otherCut.reset();
  for (explain::FoundLint &lint : explanation.lints)
    if (lint.lint != dist::Lint::UnbalancedStages)
      price(lint.remedy);
    else if (explanation.otherCut)
      lint.remedy = explanation.otherCut;
    else
      lint.message += "; --stage-at NAME moves a cut";
}
