//===- CollectiveFacts.cpp - bytes and seconds of collectives -------------===//

#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "dialects/pipe/PipeDialect.h"

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

/// Returns two numbers for the group of rank 0: the difference between the
/// numbers of neighboring ranks, and the number of ranks. Example: {2, 4} for
/// the ranks 0, 2, 4 and 6. `group` is an index in `facts.groups`.
static std::pair<int, int> spacingOf(const ModelFacts &facts, int group) {
  const dist::Mesh &mesh = facts.mesh.ranks();
  const auto members = runtime::membersOf(facts.groups[group], mesh,
                                          runtime::coordinatesOf(mesh, 0));
  const int64_t stride = members.size() < 2
                             ? 1
                             : runtime::rankOf(mesh, members[1]) -
                                   runtime::rankOf(mesh, members[0]);
  return {static_cast<int>(stride), static_cast<int>(members.size())};
}

/// Interpolates between measured seconds if `cluster` has them. Otherwise
/// returns latency + received bytes / bandwidth of the network with the
/// smallest span, such as NVLink, that connects the ranks of a group. Assumes
/// that the ranks of every group are spaced like those of the group of rank 0.
double emit::secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                       const plan::Cluster &cluster) {
  const int group = facts.groupOf(collective);
  const CollectiveFacts entry = factsOf(facts, collective, group);
  const auto [stride, size] = spacingOf(facts, group);
  return cluster.commSeconds(entry.kind, stride, size,
                             static_cast<double>(entry.receivedBytes), 1);
}

std::string emit::linkOf(const ModelFacts &facts, dist::CollectiveOp collective,
                         const plan::Cluster &cluster) {
  const auto [stride, size] = spacingOf(facts, facts.groupOf(collective));
  return cluster.linkFor(stride, size).level;
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
