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
  // An all_gather and a reduce_scatter can have operands `rows`. Then the
  // collective sends only some rows of its tensor. A row is, for example, the
  // vector of one token. The operands `rows` are boolean masks, which the ranks
  // compute at run time. The masks tell which row goes to which rank. A rank
  // can thus send different rows to each rank of its group, as in an
  // all_to_all. The field `kind` is therefore "all_to_all" for a collective
  // with operands `rows`.
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

/// Adds `collective` to the list `entries`. An element of the list describes
/// one or more collectives. The field `ops` of an element contains the
/// described collectives. `entry` is a description of `collective`, such as its
/// kind, its mesh axes and its number of bytes. There are two cases:
///
/// - The list has an element with a description that is equal to `entry`, and
///   the description contains the name of an ONNX node. The function appends
///   `collective` to the field `ops` of this element. Example: two collectives
///   of one ONNX node are all-reduces over tp of 64 bytes. One element then
///   describes both collectives.
/// - The list has no element with an equal description, or the ONNX node has no
///   name. The function appends `entry` to the list. The field `ops` of the new
///   element contains only `collective`.
///
/// In both cases, the function sets the field `count` of the element to the
/// number of collectives in `ops`.
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

/// Estimates the seconds of one call of `collective`. There are two cases:
///
/// - `cluster` contains seconds that were measured for this kind of collective,
///   for this number of ranks and for several numbers of bytes. The function
///   interpolates between the measured seconds.
/// - `cluster` contains no such seconds. The function chooses one network link.
///   The result is latency + bytes / bandwidth. The latency and the bandwidth
///   are those of the link. The bytes are the bytes that one rank receives.
///
/// A network link connects a number of consecutive ranks. For example, the link
/// within a node connects 8 ranks, and the link between nodes connects 64
/// ranks. The function chooses the link in two steps:
///
/// 1. The stride of a call is the difference between the numbers of two
///    neighboring ranks in the call. The function multiplies the number of
///    ranks in the call by the stride. For example, a call of the 3 ranks 0, 4
///    and 8 has the stride 4. The product is 3 · 4 = 12.
/// 2. The function looks at all links that connect at least as many ranks as
///    the product. It chooses the link that connects the fewest ranks. In the
///    example, it chooses the link between nodes. If no link connects enough
///    ranks, the function chooses the link that connects the most ranks.
///
/// A collective can run in several groups of ranks at the same time. The
/// function computes the stride from the first two ranks of the group that
/// contains rank 0. It assumes that all neighboring ranks in all groups have
/// this stride.
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
