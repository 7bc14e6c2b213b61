//===- PlanEntries.cpp - what a step communicates, dearest first ----------===//

#include "passes/explain/PlanEntries.h"
#include "passes/explain/RepeatedCollectives.h"
#include "runtime/base/QuantityText.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace pcc;
using namespace pcc::explain;
using runtime::bytesText;

/// Returns a remark about the sharding that causes the collective `made`. If
/// the search chose the sharding, compares it with the best allowed
/// alternative. The remark states how many more or fewer bytes a rank would
/// receive with the alternative, such as "next best +32.0 KiB". If the user set
/// the sharding, the remark names the option, such as "for --shard 'y=[-,tp]'".
/// Returns "" if there is no alternative.
static std::string loserText(const ExplainedCollective &made) {
  const auto decisions = made.decisions();
  if (decisions.empty())
    return "";
  if (!decisions.front().decision)
    return "for " + decisions.front().place->pin;
  const dist::Decision &decision = *decisions.front().decision;
  const auto other =
      llvm::find_if(decision.others, [](const dist::Choice &choice) {
        return choice.refused.empty();
      });
  if (other == decision.others.end())
    return "";
  const int64_t more = other->receivedBytes() - decision.chosen.receivedBytes();
  if (more < 0)
    return bytesText(-more) + " less would be dearer";
  return more ? "next best +" + bytesText(more) : "next best as dear";
}

/// Returns the entry of `group`, a list of equal collectives. The ranks of one
/// pipeline position (ranks that run the same stages) may call them more often
/// than other ranks. The bytes and seconds of the entry are those of a rank
/// with the most calls.
static PlanEntry entryOf(const RepeatedCollective &group,
                         int64_t microbatches) {
  const ExplainedCollective &first = *group.all.front();
  std::map<int, int64_t> callsOfPosition;
  int64_t calls = 0;
  for (const ExplainedCollective *made : group.all)
    calls = std::max(calls, callsOfPosition[made->position] +=
                            made->facts.count *
                            (made->facts.isShared ? 1 : microbatches));
  PlanEntry entry{llvm::join(first.facts.axes, "+"),
                  static_cast<double>(calls * first.facts.receivedBytes),
                  static_cast<double>(calls) * first.seconds};
  std::string place = first.cause ? first.cause->by.op : "";
  const std::string node = first.cause && !first.cause->by.node.empty()
                               ? first.cause->by.node
                               : first.facts.node;
  place += (place.empty() || node.empty() ? "" : " ") +
           (node.empty() ? "" : "'" + node + "'");
  entry.text =
      std::to_string(calls) + " x " + first.facts.kind + " of " + place;
  if (group.count > 1)
    entry.text += " and " + std::to_string(group.count - 1) + " alike";
  entry.remark = loserText(first);
  return entry;
}

/// Returns what changes if the later stage of `cut` begins at another node, in
/// comparison with `price`, the price of the plan. Example: "at 'h.2':
/// saves 64.0 KiB received a step". If no place was priced, tells the reason.
/// Empty if there is only this cut, since the tree tells its option.
static std::string placeText(const CutTraffic &cut,
                             const std::optional<emit::PlanPrice> &price) {
  if (!cut.otherReason.empty() || !cut.other || !cut.other->price || !price)
    return cut.otherReason;
  if (cut.other->stageAt.size() == 1)
    return "";
  return "at '" + cut.otherNode +
         "': " + differenceText(*price, *cut.other->price);
}

static PlanEntry entryOf(const CutTraffic &cut,
                         const std::optional<emit::PlanPrice> &price) {
  std::string text = std::string(cut.isOfUpdate ? "optimizer step" : "cut") +
                     " between stages " + std::to_string(cut.fromStage) +
                     " and " + std::to_string(cut.toStage);
  if (!cut.node.empty())
    text += " at '" + cut.node + "'";
  std::string remark;
  if (cut.forwardBytes > 0 && cut.backwardBytes > 0)
    remark = bytesText(cut.forwardBytes) + " there, " +
             bytesText(cut.backwardBytes) + " back";
  const std::string place = placeText(cut, price);
  if (!remark.empty() && !place.empty())
    remark += "; ";
  return {"pp",
          static_cast<double>(std::max(cut.forwardBytes, cut.backwardBytes)),
          cut.seconds(), text, remark + place};
}

std::vector<PlanEntry> explain::entriesOf(const Explanation &explanation) {
  std::vector<PlanEntry> entries;
  for (const RepeatedCollective &group :
       findRepeatedCollectives(explanation.collectives))
    entries.push_back(entryOf(group, explanation.microbatches));
  for (const CutTraffic &cut : explanation.cuts)
    entries.push_back(entryOf(cut, explanation.price));
  std::vector<std::pair<double, size_t>> order;
  for (const auto &[i, entry] : llvm::enumerate(entries))
    order.push_back({-entry.seconds, i});
  llvm::sort(order);
  std::vector<PlanEntry> sorted;
  for (const auto &[seconds, i] : order)
    sorted.push_back(std::move(entries[i]));
  return sorted;
}

PlanEntry explain::totalOf(const Explanation &explanation,
                           const std::string &axes) {
  std::map<int, PlanEntry> ofPosition;
  PlanEntry most{axes};
  for (const CommunicationTotal &total : explanation.totals)
    if (total.axes == axes) {
      PlanEntry &sum = ofPosition[total.position];
      sum.bytes += static_cast<double>(total.receivedBytes);
      sum.seconds += total.seconds;
      if (sum.seconds >= most.seconds)
        most = {axes, sum.bytes, sum.seconds};
    }
  return most;
}
