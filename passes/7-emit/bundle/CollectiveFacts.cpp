//===- CollectiveFacts.cpp - bytes and seconds of collectives -------------===//

#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/plan/reshard/ClusterPrices.h"

#include <nlohmann/json.hpp>
#include <tuple>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using Json = nlohmann::ordered_json;

bool CollectiveFacts::isEqualButCount(const CollectiveFacts &other) const {
  const auto fields = [](const CollectiveFacts &c) {
    return std::tie(c.kind, c.axes, c.ranksPerGroup, c.dtype, c.reduction,
                    c.localBytes, c.receivedBytes, c.isShared, c.isMost, c.node,
                    c.value);
  };
  return fields(*this) == fields(other);
}

/// Returns a description of `collective`, such as its kind, its mesh axes and
/// its number of bytes. `facts.groups[group]` lists the mesh axes or Shardy
/// sub-axes along which `collective` communicates. Does not set the fields
/// `isShared`, `count` and `ops` of the description.
static CollectiveFacts factsOf(const ModelFacts &facts,
                               dist::CollectiveOp collective, int group) {
  RankedTensorType operand = graph::tensorType(collective.getInput());
  CollectiveFacts entry;
  entry.isMost = !collective.getRows().empty();
  // The operands `rows` of a collective are run-time masks that select the rows
  // (such as tokens) that each rank gets. The ranks of a group can then get
  // different rows, as in an all_to_all. Describe the collective as an
  // all_to_all.
  const auto kind =
      entry.isMost ? dist::CollectiveKind::AllToAll : collective.getKind();
  entry.kind = dist::toString(kind);
  for (const dist::SubAxis &axis : facts.groups[group])
    if (entry.axes.empty() || entry.axes.back() != axis.axis)
      entry.axes.push_back(axis.axis);
  entry.ranksPerGroup = dist::numParts(facts.groups[group]);
  entry.dtype = std::string(runtime::nameOf(elementTypeOf(operand)));
  const auto &partials = collective.getFrom().getSharding().partials;
  if (dist::reduces(collective.getKind()))
    entry.reduction =
        partials.empty() ? "sum" : dist::toString(partials[0].kind);
  entry.localBytes = bytesOf(operand);
  entry.receivedBytes = static_cast<int64_t>(collective.getReceivedBytes());
  entry.node = graph::nodeName(collective.getLoc()).str();
  entry.value = collective.getValue().str();
  return entry;
}

/// Adds `collective` to the list `entries`. `entry` describes `collective`. If
/// `entry` names an ONNX node, and the list has an element with an equal
/// description, appends `collective` to the field `ops` of this element.
/// Example: two all-reduces of one node over the same axis, of 64 bytes each,
/// share an element. Otherwise, appends `entry` as a new element. Sets the
/// field `count` of the element to the number of collectives in `ops`.
static void addEntry(std::vector<CollectiveFacts> &entries,
                     CollectiveFacts entry, dist::CollectiveOp collective) {
  auto same = llvm::find_if(entries, [&](const CollectiveFacts &other) {
    return !entry.node.empty() && entry.isEqualButCount(other);
  });
  if (same == entries.end())
    same = entries.insert(entries.end(), std::move(entry));
  same->ops.push_back(collective);
  same->count = static_cast<int64_t>(same->ops.size());
}

std::vector<CollectiveFacts> emit::collectivesOf(const ModelFacts &facts,
                                                 int stage) {
  std::vector<CollectiveFacts> entries;
  for (func::FuncOp function : facts.functions[stage])
    for (auto collective : function.getOps<dist::CollectiveOp>()) {
      const int group = facts.groupOf(collective);
      if (group < 0)
        continue;
      CollectiveFacts entry = factsOf(facts, collective, group);
      entry.isShared = pipe::runsOnce(function);
      addEntry(entries, std::move(entry), collective);
    }
  return entries;
}

/// Returns the ranks that take part in `collective`.
static plan::RankGroup ranksOf(const ModelFacts &facts,
                               dist::CollectiveOp collective) {
  return plan::groupOf(facts.groups[facts.groupOf(collective)],
                       facts.mesh.ranks());
}

double emit::secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                       const plan::Cluster &cluster) {
  const CollectiveFacts entry =
      factsOf(facts, collective, facts.groupOf(collective));
  return cluster.commSeconds(entry.kind, ranksOf(facts, collective),
                             static_cast<double>(entry.receivedBytes));
}

std::string emit::linkOf(const ModelFacts &facts, dist::CollectiveOp collective,
                         const plan::Cluster &cluster) {
  return cluster.linkFor(ranksOf(facts, collective)).level;
}

Json emit::toJson(const CollectiveFacts &collective, int64_t stage) {
  return {{"kind", collective.kind},
          {"axes", collective.axes},
          {"ranks_per_group", collective.ranksPerGroup},
          {"stage", stage},
          {"dtype", collective.dtype},
          {"reduction",
           collective.reduction.empty() ? Json() : Json(collective.reduction)},
          {"local_bytes", collective.localBytes},
          {"received_bytes", collective.receivedBytes},
          {"per", collective.isShared ? "step" : "microbatch"},
          {"count", collective.count},
          {"node", collective.node},
          {"value", collective.value}};
}

Json emit::toJson(const StageTransfer &transfer) {
  return {{"from_stage", transfer.fromStage},
          {"to_stage", transfer.toStage},
          {"value", transfer.value},
          {"dtype", std::string(runtime::nameOf(elementTypeOf(transfer.type)))},
          {"shape", transfer.type.getShape().vec()},
          {"bytes", bytesOf(transfer.type)},
          {"per", transfer.isPerStep() ? "step" : "microbatch"}};
}

int64_t emit::receivedBytes(const ModelFacts &facts, int position) {
  int64_t bytes = 0;
  for (int stage : facts.stagesOf(position))
    for (const CollectiveFacts &collective : collectivesOf(facts, stage))
      bytes += collective.receivedBytes * collective.callsPerStep(facts);
  for (const StageTransfer &transfer : facts.transfers)
    if (facts.positionOfStage[transfer.toStage] == position &&
        facts.positionOfStage[transfer.fromStage] != position)
      bytes +=
          bytesOf(transfer.type) * transfer.callsPerStep(facts.microbatches);
  return bytes;
}
