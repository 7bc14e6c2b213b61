//===- DecideShardings.cpp - choice of a sharding for every value ---------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/SignatureAttrs.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "passes/4-shard/policy/ExpertDims.h"
#include "passes/4-shard/policy/OrderedSums.h"
#include "passes/4-shard/search/Alternatives.h"
#include "passes/4-shard/search/AxisOrder.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/4-shard/search/ShardingRemarks.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

namespace pcc::shard {
#define GEN_PASS_DEF_DECIDESHARDINGS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Gives `value`, the result of an op, the sharding `sharding`, which comes
/// from `seed` (--shard or an annotation). If the op computes `value` in
/// another sharding, inserts a reshard after the op. All other readers of
/// `value` then read the reshard, which also takes over the name of the op.
/// Returns the reshard if one was inserted, otherwise the op.
static Operation *pin(Value value, const dist::Sharding &sharding,
                      const Seed &seed) {
  dist::ShardingAttr from = dist::shardingOf(value);
  Operation *op = value.getDefiningOp();
  if (dist::samePlacement(from.getSharding(), sharding))
    return op;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto reshard = dist::ReshardOp::create(
      builder, reshardLocation(value, {pinEndpoint(op, seed)}), value.getType(),
      value, from, dist::ShardingAttr::get(op->getContext(), sharding),
      DenseI64ArrayAttr());
  value.replaceAllUsesExcept(reshard, reshard);
  dist::setSharding(reshard, sharding);
  if (Attribute stage = op->getAttr(pipe::stageName))
    reshard->setAttr(pipe::stageName, stage);
  if (Attribute name = op->removeAttr(graph::nameName))
    reshard->setAttr(graph::nameName, name);
  return reshard;
}

/// Stores the decisions of the sharding search in the locations of the ops, for
/// `pcc explain`. A decision about an op and a mesh axis contains the chosen
/// way to split the op, up to five alternatives, and the costs of all.
static void recordDecisions(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  Alternatives alternatives(graph, seeds, planner);
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (Operation *op = graph.ops[i].op)
      op->setLoc(
          dist::withDecisions(op->getLoc(), alternatives.decisionsAt(i)));
}

/// Stores the result of the sharding search in the IR: `dist.split` and
/// `dist.shardings` on ops, `dist.sharding` on function arguments and results,
/// and `dist.pinned` where the user sets a sharding. Inserts a reshard if an op
/// computes its result in another sharding than the user sets.
static void annotate(ShardedGraph &graph) {
  func::FuncOp function = graph.function;
  MLIRContext *context = function.getContext();
  graph::SignatureAttrs attributes(function);
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const ShardedOp &op = graph.ops[i];
    const Seed *seed = graph.seedOf(i);
    auto source =
        seed ? StringAttr::get(context, seed->source()) : StringAttr();
    Operation *pinned = op.op;
    if (graph.isSink(i)) {
      attributes.setResult(
          graph.sinkIndex(i), dist::shardingName,
          dist::ShardingAttr::get(context, op.operandSharding(0)));
      if (seed)
        attributes.setResult(graph.sinkIndex(i), dist::pinnedName, source);
      continue;
    }
    // Function results are handled above. The remaining nodes of the graph are
    // ops of the IR (`op.op` is set), constraints on the sharding of an op's
    // result, and function arguments (`op.op` is null for both).
    if (op.op)
      record(op);
    else if (graph.isPinOfValue(i))
      pinned = pin(graph.valueOf(i, 0), op.resultSharding(0), *seed);
    else
      attributes.setArg(i, dist::shardingName,
                        dist::ShardingAttr::get(context, op.resultSharding(0)));
    if (seed && pinned)
      pinned->setAttr(dist::pinnedName, source);
    else if (seed)
      attributes.setArg(i, dist::pinnedName, source);
  }
  attributes.write();
}

/// Handles the option `--ep N`, which divides the experts of mixture-of-experts
/// layers into N groups. Tags the dims of `graph` that count experts, and
/// returns the mesh axes, or sub-axes of them, that divide the experts. Returns
/// an empty list without `--ep`. Emits an error if no dim counts experts.
static FailureOr<dist::SubAxes> takeExperts(ShardedGraph &graph,
                                            const dist::Mesh &mesh) {
  auto module = graph.function->getParentOfType<ModuleOp>();
  auto numParts = module->getAttrOfType<IntegerAttr>(dist::expertsName);
  if (!numParts)
    return dist::SubAxes();
  if (!tagExperts(graph))
    return emitError(UnknownLoc::get(module.getContext()))
           << "no experts can be divided by --ep " << numParts.getInt()
           << ": pcc finds no mixture-of-experts layer in this model";
  return expertAxes(mesh, numParts.getInt());
}

/// Builds the data-flow graph of `function` for the sharding search. If the
/// ranks cannot share the samples of a microbatch evenly, divides the batch dim
/// into two loop dims, microbatches and samples, and adapts the user-set
/// shardings in `seeds`. For example, 6 samples become 2 microbatches of 3
/// samples.
///
/// If the mesh axis cp has several ranks, also divides the sequence of causal
/// attention into stripes (Stripes.h). Does not do this if the graph would then
/// have fewer ops with a sequence dim.
static ShardedGraph refinedGraph(func::FuncOp function, Seeds &seeds,
                                 const dist::Mesh &mesh) {
  const int64_t microbatches = ShardedGraph::unevenMicrobatches(function, mesh);
  if (microbatches > 1) {
    ShardedGraph tagged(function, seeds);
    tagged.refine();
    seeds.cutBatch(tagged, microbatches);
  }
  ShardedGraph graph(function, seeds);
  graph.refine(/*sequenceParts=*/1, microbatches);
  int64_t parts = 1;
  for (const dist::Axis &axis : mesh.axes)
    if (roleOf(axis.name) == AxisRole::Sequence)
      parts *= axis.size;
  if (parts > 1) {
    ShardedGraph striped(function, seeds);
    if (striped.refine(parts, microbatches) &&
        striped.numSequenceOps() >= graph.numSequenceOps())
      return striped;
    LDBG() << "not in stripes: " << striped.numSequenceOps() << " of "
           << graph.numSequenceOps() << " ops have tokens";
  }
  return graph;
}

namespace {
/// Pass `--decide-shardings`, which chooses a sharding for every value of a
/// function. For each op and mesh axis, the pass chooses how the axis splits
/// the op. It searches for the choice with the least estimated cost, such as
/// communication. It keeps the shardings that the user sets (--shard or an
/// annotation). The pass stores the shardings as attributes.
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    if (mesh.sizeOf(std::string(dist::timeAxis)) > 1) {
      // `seeds` refers to the ops whose shardings the user sets (--shard or an
      // annotation). The next call may erase some of these ops. Therefore
      // compute `seeds` again after the call.
      separateWholeBatchReductions(getOperation(), *seeds);
      seeds = Seeds::resolve(getOperation(), mesh);
    }
    if (graph::isReproducible(getOperation())) {
      if (failed(orderSums(getOperation(), *seeds, mesh)))
        return signalPassFailure();
      seeds = Seeds::resolve(getOperation(), mesh);
    }
    ShardedGraph graph = refinedGraph(getOperation(), *seeds, mesh);
    auto module = getOperation()->getParentOfType<ModuleOp>();
    plan::ReshardPlanner planner(
        mesh,
        plan::pricesOf(dist::clusterOf(module), dist::targetOf(module), mesh));
    auto experts = takeExperts(graph, mesh);
    if (failed(experts) ||
        failed(assignMeshAxes(graph, *seeds, *experts, planner)))
      return signalPassFailure();
    remarkOnExperts(graph, *experts);
    remarkOnIdlePresets(getOperation());
    for (const dist::Axis &axis : mesh.axes) {
      numAxes += seeds->partsOf(axis).size();
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Tensor) {
        remarkOnHeads(graph, axis);
        remarkOnWholeWeights(graph, axis);
      }
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Sequence)
        remarkOnWholeSequence(graph, axis);
    }
    for (const ShardedOp &op : graph.ops)
      numSplit += llvm::any_of(
          op.axes, [](const dist::SubAxes &axes) { return !axes.empty(); });
    recordDecisions(graph, *seeds, planner);
    annotate(graph);
    eraseWholeBatchMarks(getOperation());
    eraseSumOrderMarks(getOperation());
  }
};
} // namespace
