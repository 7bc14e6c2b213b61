//===- RepeatedCollectives.cpp - groups of equal collectives of blocks ----===//

#include "passes/explain/RepeatedCollectives.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace pcc;
using namespace pcc::explain;

/// Returns `text` with each number inside a quoted name replaced by '#':
/// 'h.11.w' becomes 'h.#.w'.
static std::string withoutNumbers(const std::string &text) {
  std::string result;
  bool isQuoted = false, inNumber = false;
  for (char c : text) {
    isQuoted ^= c == '\'';
    const bool isDigit = isQuoted && llvm::isDigit(c);
    if (!isDigit)
      result += c;
    else if (!inNumber)
      result += '#';
    inNumber = isDigit;
  }
  return result;
}

/// Returns a key for `choice`, one way to compute an op. The keys of similar
/// layers are equal: '#' replaces numbers in quoted names. `choice.refused` is
/// the reason why the search must not choose this way. Only the first character
/// of the reason is in the key, because the rest can contain the name of a
/// weight of one layer.
static std::string keyOf(const dist::Choice &choice) {
  std::string key = withoutNumbers(choice.what) + choice.refused.substr(0, 1);
  for (const dist::PricedStep &step : choice.steps)
    key += " " + step.kind + std::to_string(step.receivedBytes) +
           (step.isShared ? "s" : "");
  return key;
}

/// Returns a key for a collective. Collectives with equal keys, such as the
/// all-reduces of all layers, form one group in the output of `pcc explain`.
static std::string keyOf(const ExplainedCollective &made) {
  const auto &facts = made.facts;
  std::string key = (facts.isShared ? "1 " : "") + facts.kind +
                    llvm::join(facts.axes, "+") + facts.dtype +
                    facts.reduction + std::to_string(facts.localBytes) + " " +
                    std::to_string(facts.receivedBytes) + made.from + made.to +
                    (made.cause ? made.cause->by.op : "?");
  for (const dist::Endpoint &use :
       made.cause ? made.cause->uses : std::vector<dist::Endpoint>())
    key += " " + use.op + withoutNumbers(use.pin);
  for (const EndpointDecision &at : made.decisions()) {
    if (!at.decision)
      continue;
    key += " " + keyOf(at.decision->chosen);
    for (const dist::Choice &other : at.decision->others)
      key += " " + keyOf(other);
  }
  return key;
}

std::vector<RepeatedCollective>
explain::findRepeatedCollectives(const std::vector<ExplainedCollective> &all) {
  std::vector<RepeatedCollective> groups;
  std::map<std::string, size_t> groupOfKey;
  for (const ExplainedCollective &made : all) {
    auto [entry, isNew] = groupOfKey.insert({keyOf(made), groups.size()});
    if (isNew)
      groups.emplace_back();
    RepeatedCollective &group = groups[entry->second];
    group.all.push_back(&made);
    group.count += made.facts.count;
    const std::string stage = std::to_string(made.stage);
    if (!llvm::is_contained(group.stages, stage))
      group.stages.push_back(stage);
  }
  return groups;
}
