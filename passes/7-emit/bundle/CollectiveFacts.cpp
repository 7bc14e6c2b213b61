//===- CollectiveFacts.cpp - what a stage communicates --------------------===//

#include "passes/7-emit/bundle/CollectiveFacts.h"

#include <tuple>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

bool CollectiveFacts::isEqualButCount(const CollectiveFacts &other) const {
  const auto fields = [](const CollectiveFacts &c) {
    return std::tie(c.kind, c.axes, c.ranksPerGroup, c.dtype, c.reduction,
                    c.localBytes, c.receivedBytes, c.node, c.value);
  };
  return fields(*this) == fields(other);
}

static CollectiveFacts factsOf(const ModelFacts &facts,
                               dist::CollectiveOp collective, int group) {
  RankedTensorType operand = graph::tensorType(collective.getInput());
  CollectiveFacts entry;
  entry.kind = dist::stringifyCollectiveKind(collective.getKind()).str();
  for (const runtime::AxisPart &part : facts.groups[group].parts)
    if (entry.axes.empty() ||
        entry.axes.back() != facts.mesh.names()[part.axis])
      entry.axes.push_back(facts.mesh.names()[part.axis]);
  entry.ranksPerGroup = runtime::groupSize(facts.groups[group]);
  entry.dtype = std::string(runtime::nameOf(elementTypeOf(operand)));
  const auto &partials = collective.getFrom().getSharding().partials;
  if (collective.getKind() == dist::CollectiveKind::AllReduce ||
      collective.getKind() == dist::CollectiveKind::ReduceScatter)
    entry.reduction =
        partials.empty() ? "sum" : dist::toString(partials[0].kind);
  entry.localBytes = bytesOf(operand);
  entry.receivedBytes = static_cast<int64_t>(collective.getReceivedBytes());
  entry.node = graph::nodeName(collective.getLoc()).str();
  entry.value = collective.getValue().str();
  return entry;
}

std::vector<CollectiveFacts> emit::collectivesOf(const ModelFacts &facts,
                                                 func::FuncOp stage) {
  std::vector<CollectiveFacts> entries;
  for (auto collective : stage.getOps<dist::CollectiveOp>()) {
    const int group = facts.groupOf(collective);
    if (group < 0)
      continue;
    CollectiveFacts entry = factsOf(facts, collective, group);
    auto same = llvm::find_if(entries, [&](const CollectiveFacts &other) {
      return !entry.node.empty() && entry.isEqualButCount(other);
    });
    if (same != entries.end())
      ++same->count;
    else
      entries.push_back(std::move(entry));
  }
  return entries;
}
