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
/// its number of bytes. `group` is an index into `facts.groups`. The entry
/// `facts.groups[group]` lists the mesh axes, or parts of mesh axes, along
/// which `collective` communicates. The function does not set the fields
/// `isShared`, `count` and `ops` of the description.
static CollectiveFacts factsOf(const ModelFacts &facts,
                               dist::CollectiveOp collective, int group) {
  RankedTensorType operand = graph::tensorType(collective.getInput());
  CollectiveFacts entry;
  entry.isMost = !collective.getRows().empty();
  // If the op has the operands `rows`, it is an all_gather or a reduce_scatter
  // that sends only some rows of a tensor. Masks that ranks compute at run time
  // select the rows. Any rank may send rows to any other rank of its group. The
  // description therefore gives the kind all_to_all for this op.
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

/// Adds `collective` to the list `entries`. `entry` is the description of
/// `collective`, such as its kind and its mesh axes. If an element of the list
/// has an equal description, appends `collective` to the field `ops` of this
/// element. If no element has an equal description, appends `entry` to the
/// list, with `collective` in its field `ops`. Also appends `entry` if
/// `collective` belongs to an ONNX node without a name.
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

/// Estimates the seconds of one call of `collective`. The estimate depends on
/// the bytes that one rank receives, the number of ranks in a group, and the
/// distance between the ranks. The distance is the difference of two rank
/// numbers: ranks 0, 4 and 8 have the distance 4. The function computes the
/// distance of the first two ranks in the group of rank 0. The function assumes
/// that all neighboring ranks of a group have this distance. The number of
/// ranks and the distance select one network link, such as the link within a
/// node or the link between nodes (plan::Cluster::commSeconds). The estimate
/// assumes that all messages use this link. If `cluster` contains measured
/// times for this kind of collective and this number of ranks, the estimate
/// uses these times instead.
double emit::secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                       const plan::Cluster &cluster) {
  const int group = facts.groupOf(collective);
  const CollectiveFacts entry = factsOf(facts, collective, group);
  const dist::Mesh &mesh = facts.mesh.ranks();
  const auto members = runtime::membersOf(facts.groups[group], mesh,
                                          runtime::coordinatesOf(mesh, 0));
  const int64_t stride = members.size() < 2
                             ? 1
                             : runtime::rankOf(mesh, members[1]) -
                                   runtime::rankOf(mesh, members[0]);
  return cluster.commSeconds(entry.kind, static_cast<int>(stride),
                             static_cast<int>(members.size()),
                             static_cast<double>(entry.receivedBytes), 1);
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
