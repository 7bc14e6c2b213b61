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

namespace {
/// Prices the suggestions of one explanation.
class Trials {
public:
  Trials(const CompileOptions &options, const Listener &listener,
         explain::Explanation &explanation)
      : options(options), explanation(explanation) {
    silent.isGivenUp = listener.isGivenUp;
  }

  void run() {
    priceRemedy(explanation.otherCut);
    for (explain::FoundLint &lint : explanation.lints)
      if (lint.lint != dist::Lint::UnbalancedStages)
        priceRemedy(lint.remedy);
    priceCuts();
    chooseOtherCut();
    for (explain::FoundLint &lint : explanation.lints)
      if (lint.lint == dist::Lint::UnbalancedStages)
        adviseOnBalance(lint);
  }

private:
  /// Stores in `remedy.price` what the plan costs with `remedy`, if it can be
  /// compiled. Compiles equal options once.
  void price(explain::Remedy &remedy) {
    remedy.price.reset();
    for (const auto &[other, known] : tried)
      if (other == remedy) {
        remedy.price = known;
        return;
      }
    auto price = ::priceOf(optionsWith(options, remedy), silent);
    tried.push_back({remedy, price});
    remedy.price = std::move(price);
  }

  /// Returns whether the plan costs the same with `remedy`, which has a price.
  bool changesNothing(const explain::Remedy &remedy) const {
    return explain::differenceText(*explanation.price, *remedy.price).empty();
  }

  void priceRemedy(std::optional<explain::Remedy> &remedy) {
    if (!remedy || trialsLeft == 0)
      return;
    --trialsLeft;
    price(*remedy);
    if (!remedy->price || changesNothing(*remedy))
      remedy.reset();
  }

  /// Prices another place for each of the dearest cuts.
  void priceCuts() {
    constexpr size_t mostCuts = 4;
    std::vector<explain::CutTraffic *> cuts;
    for (explain::CutTraffic &cut : explanation.cuts)
      if (cut.other)
        cuts.push_back(&cut);
    llvm::stable_sort(cuts, [](const auto *a, const auto *b) {
      return a->seconds() > b->seconds();
    });
    for (size_t i = 0; i < cuts.size(); ++i)
      if (i < mostCuts)
        priceCut(*cuts[i]);
      else
        cuts[i]->otherReason = "only the " + std::to_string(mostCuts) +
                               " dearest cuts are tried elsewhere";
  }

  void priceCut(explain::CutTraffic &cut) {
    price(*cut.other);
    if (!cut.other->price)
      cut.otherReason = "cannot be at '" + cut.otherNode +
                        "': the plan does not compile with it";
    else if (changesNothing(*cut.other))
      cut.otherReason = "as dear at '" + cut.otherNode + "'";
  }

  /// Makes `otherCut` the one with the shortest step of all other cuts that
  /// change the price.
  void chooseOtherCut() {
    for (const explain::CutTraffic &cut : explanation.cuts)
      if (cut.other && cut.other->price && !changesNothing(*cut.other))
        if (auto &best = explanation.otherCut;
            !best || !best->price ||
            cut.other->price->seconds < best->price->seconds)
          best = cut.other;
  }

  /// Makes the other cut the remedy of `lint`. If there is none, the message
  /// ends in why no cut moves.
  void adviseOnBalance(explain::FoundLint &lint) const {
    lint.remedy = explanation.otherCut;
    for (const explain::CutTraffic &cut : explanation.cuts)
      if (!lint.remedy && !cut.otherReason.empty()) {
        lint.message += "; cut between stages " +
                        std::to_string(cut.fromStage) + " and " +
                        std::to_string(cut.toStage) + ": " + cut.otherReason;
        return;
      }
  }

  const CompileOptions &options;
  explain::Explanation &explanation;
  Listener silent;
  size_t trialsLeft = 4;
  /// Options that have been tried, without price, and the price of each.
  std::vector<std::pair<explain::Remedy, std::optional<emit::PlanPrice>>> tried;
};
} // namespace

void pcc::priceRemedies(const CompileOptions &options, const Listener &listener,
                        explain::Explanation &explanation) {
  Trials(options, listener, explanation).run();
}
