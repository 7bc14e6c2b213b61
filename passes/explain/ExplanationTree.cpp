//===- ExplanationTree.cpp - what a step costs, dearest first -------------===//

#include "passes/explain/Explanation.h"
#include "passes/explain/PlanEntries.h"
#include "runtime/base/QuantityText.h"
#include "runtime/base/TextTable.h"
#include "runtime/base/TextTree.h"
#include "runtime/program/InspectText.h"
#include "status/Counted.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <tuple>

using namespace pcc;
using namespace pcc::explain;
using llvm::formatv;
using runtime::bytesText;
using runtime::countText;
using runtime::secondsText;
using runtime::shareText;
using runtime::TextTree;

/// Largest width of a text in the tree, so that a line has about 100 columns.
static constexpr size_t mostWidth = 92;

/// Largest number of pipeline stages (`mostStages`) and of lints (`mostLints`)
/// that the tree shows without -v.
static constexpr size_t mostStages = 8, mostLints = 3;

/// Returns the mesh, such as "4 ranks (pp=2, tp=2)".
static std::string worldText(const Explanation &explanation) {
  std::string axes;
  for (const auto &[name, size] : explanation.mesh)
    axes += (axes.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  return countText(explanation.world, "rank") +
         (axes.empty() ? "" : " (" + axes + ")");
}

/// Returns one line about the plan: the mesh, the target, the number of
/// microbatches and the schedule.
static std::string headText(const Explanation &explanation) {
  return worldText(explanation) + ", target " + explanation.target + ", " +
         countText(explanation.microbatches, "microbatch") + ", " +
         explanation.schedule + "\n";
}

/// Returns the predicted costs of one step of the plan as text: seconds, idle
/// share, received bytes, and memory per rank.
static std::string stepText(const Explanation &explanation) {
  const emit::PlanPrice &price = *explanation.price;
  std::string text = "each step: about " + secondsText(price.seconds);
  if (explanation.world > 1)
    text += ", " + shareText(price.idleShare) + " idle; receives up to " +
            bytesText(price.receivedBytes);
  return text + "; each rank needs up to " + bytesText(price.memoryBytes) +
         runtime::leftOutText(explanation.target);
}

/// Returns floating-point operations in a suitable unit, such as "91.2 GFLOP".
static std::string flopsText(int64_t flops) {
  static constexpr const char *units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP",
                                          "TFLOP"};
  auto number = static_cast<double>(flops);
  size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(units); ++unit)
    number /= 1000;
  return formatv(unit ? "{0:F1} {1}" : "{0:F0} {1}", number, units[unit]).str();
}

/// Returns the floating-point operations and the idle share of each pipeline
/// stage as text.
static std::string balanceText(const emit::PlanPrice &price, bool isVerbose) {
  std::string text = "stages";
  for (size_t stage = 0; stage < price.stages.size(); ++stage) {
    if (!isVerbose && stage == mostStages)
      return text + " and " + std::to_string(price.stages.size() - stage) +
             " more";
    const emit::StageWork &work = price.stages[stage];
    text += (stage ? ", " : "  ") + std::to_string(stage) + ": " +
            flopsText(work.flops) + " (" + shareText(work.idleShare) + " idle)";
  }
  return text;
}

/// Breaks a text into lines of at most `mostWidth` columns.
static std::string wrapped(const std::string &text) {
  std::string lines, gap;
  size_t width = 0;
  for (llvm::StringRef word : llvm::split(text, ' ')) {
    const size_t needed = gap.size() + runtime::widthOf(word.str());
    const bool isBroken = width > 0 && width + needed > mostWidth;
    lines += (isBroken ? "\n" : gap) + word.str();
    width = isBroken ? needed - gap.size() : width + needed;
    gap = " ";
  }
  return lines;
}

/// Returns the option that `remedy` proposes, behind `mark`. If pcc has
/// computed the price of the plan with this option, the text also tells how
/// much the option saves and costs compared to `price`.
static std::string adviceText(const Remedy &remedy,
                              const emit::PlanPrice &price,
                              const std::string &mark = "← ") {
  std::string option = mark + optionText(remedy);
  if (!remedy.price)
    return option;
  // Begin a new line after the option rather than break the option into two
  // lines, so that the user can copy the option.
  const std::string prices = differenceText(price, *remedy.price);
  const bool isLong = option.size() + prices.size() > 90;
  return option + (isLong ? ":\n  " : ": ") + prices;
}

/// Returns whether `other` takes no longer than `own`, and saves something.
static bool isBetter(const emit::PlanPrice &other, const emit::PlanPrice &own) {
  return other.seconds <= own.seconds &&
         (other.seconds < own.seconds ||
          other.receivedBytes < own.receivedBytes ||
          other.memoryBytes < own.memoryBytes);
}

/// Returns the other cut as text: as an advice, or as the next best cut if it
/// is no better than the cut of the plan.
static std::string otherCutText(const Remedy &other,
                                const emit::PlanPrice &price) {
  const bool isAdvice = !other.price || isBetter(*other.price, price);
  return adviceText(other, price, isAdvice ? "← " : "next best: ");
}

/// Returns `entry` (communication with its price) as one line, or as two lines
/// if one line would be too long.
static std::string entryText(const PlanEntry &entry) {
  std::string text = formatv("{0,9} {1,8}  {2}", bytesText(entry.bytes),
                             secondsText(entry.seconds), entry.text)
                         .str();
  if (entry.remark.empty())
    return text;
  const bool isLong =
      runtime::widthOf(text) + 2 + entry.remark.size() > mostWidth;
  return text + (isLong ? "\n" + wrapped(entry.remark) : "; " + entry.remark);
}

/// Adds a branch for each set of mesh axes over which ranks communicate, such
/// as dp+tp. The branch has the total price of this communication, on the
/// pipeline position that communicates the most. The most expensive branch
/// comes first. An entry of the plan is one communication with its price. A
/// branch lists the entries of its mesh axes, but only those that are among the
/// `top` most expensive entries of the plan.
static void addCommunication(const Explanation &explanation, size_t top,
                             TextTree &tree) {
  const std::vector<PlanEntry> entries = entriesOf(explanation);
  llvm::MapVector<llvm::StringRef, std::vector<size_t>> ofAxes;
  for (const auto &[i, entry] : llvm::enumerate(entries))
    ofAxes[entry.axes].push_back(i);
  std::vector<std::pair<double, TextTree>> branches;
  const bool isOfMany = explanation.receivedBytesOfPosition.size() > 1;
  for (const auto &[axes, numbers] : ofAxes) {
    const PlanEntry total = totalOf(explanation, axes.str());
    TextTree branch;
    for (size_t i : numbers)
      if (i < top)
        branch.branches.push_back({entryText(entries[i])});
    const size_t hidden = numbers.size() - branch.branches.size();
    branch.text = axes.str() + (isOfMany ? "  up to " : "  ") +
                  bytesText(total.bytes) + " and " +
                  secondsText(total.seconds) + " a step";
    if (hidden > 0)
      branch.text += " (" + std::to_string(hidden) + " of " +
                     counted(numbers.size(), "entry") + " not shown)";
    if (axes == "pp" && explanation.otherCut)
      branch.branches.push_back(
          {otherCutText(*explanation.otherCut, *explanation.price)});
    branches.push_back({-total.seconds, std::move(branch)});
  }
  llvm::sort(branches, [](const auto &a, const auto &b) {
    return std::tie(a.first, a.second.text) < std::tie(b.first, b.second.text);
  });
  for (auto &[seconds, branch] : branches)
    tree.branches.push_back(std::move(branch));
}

/// Adds the lints (warnings about the plan). If an option removes the cause of
/// a lint, the option follows the lint.
static void addLints(const Explanation &explanation, bool isVerbose,
                     TextTree &tree) {
  if (explanation.lints.empty())
    return tree.branches.push_back({"no lints"});
  TextTree lints{"lints"};
  for (const FoundLint &lint : explanation.lints) {
    if (!isVerbose && lints.branches.size() == mostLints) {
      lints.text += " (" +
                    std::to_string(explanation.lints.size() - mostLints) +
                    " more)";
      break;
    }
    lints.branches.push_back({wrapped(
        formatv("{0} {1}: {2}{3}", dist::codeOf(lint.lint),
                dist::nameOf(lint.lint), lint.message,
                lint.node.empty() ? "" : ", first at '" + lint.node + "'")
            .str())});
    if (lint.remedy)
      lints.branches.back().text +=
          "\n" + adviceText(*lint.remedy, *explanation.price);
  }
  tree.branches.push_back(std::move(lints));
}

std::string explain::toTree(const Explanation &explanation,
                            const Detail &detail) {
  TextTree tree{stepText(explanation)};
  if (explanation.price->stages.size() > 1)
    tree.branches.push_back(
        {wrapped(balanceText(*explanation.price, detail.isVerbose))});
  addCommunication(explanation, detail.isVerbose ? SIZE_MAX : detail.top, tree);
  addLints(explanation, detail.isVerbose, tree);
  return headText(explanation) + runtime::treeText(tree);
}
