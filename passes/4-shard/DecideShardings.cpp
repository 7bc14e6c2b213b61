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

/// Pins `value`, the result of an op, to `sharding`, which `seed` (a request of
/// the user or the model) asks for. Returns the op whose result has this
/// sharding:
///
/// - If `value` has it already, this is the op that produces `value`.
/// - Otherwise, it is a new reshard (change of sharding) after that op. All
///   users of `value` then read the reshard, which also takes over the name of
///   `value`.
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

/// Stores decisions in the location of each op, for `pcc explain`. A decision
/// is the way in which the op uses one mesh axis, together with the ways that
/// were not chosen.
static void recordDecisions(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  Alternatives alternatives(graph, seeds, planner);
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (Operation *op = graph.ops[i].op)
      op->setLoc(
          dist::withDecisions(op->getLoc(), alternatives.decisionsAt(i)));
}

/// Stores the decided shardings in the IR: `dist.split` and `dist.shardings` of
/// ops, and `dist.sharding` of function arguments and results. Where a value is
/// pinned to a requested sharding, also stores who requested it.
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
    // A vertex is an op, or a pin (requested sharding) after an op, or a
    // function argument. `op.op` is null for a pin after an op and for an
    // argument.
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

/// Tags the dims of experts in `graph` and returns the sub-axes that must
/// divide the experts. Returns no sub-axes if `--ep` was not given. Emits an
/// error and fails if `--ep` was given and the model has no experts.
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

/// Returns the graph of `function`. Its factors (dims, or parts of dims) are
/// cut so that they agree between producers and users. The sequence is cut into
/// stripes (Stripes.h) if three conditions hold: it is divided among several
/// ranks, some causal attention can be cut into stripes, and cutting into
/// stripes does not reduce the number of ops that have a sequence dim to split.
/// If ranks cannot divide a microbatch evenly, the batch is cut into
/// microbatches, in `seeds` (requested shardings) as well.
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
/// Runs the steps of the pass: resolves the requested shardings (seeds),
/// applies rewrites that later steps rely on, builds the graph, assigns mesh
/// axes by search, emits remarks and stores the shardings in the IR.
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    if (mesh.sizeOf(std::string(dist::timeAxis)) > 1) {
      // Seeds (requested shardings) refer to ops, and the rewrites below
      // replace ops. Therefore seeds are resolved again after each rewrite.
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
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Tensor)
        remarkOnWholeWeights(graph, axis);
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
