//===- DecideShardings.cpp - choice of a sharding for every value ---------===//

#include "dialects/dist/Target.h"
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

/// Inserts a reshard of `value` to `sharding`, the sharding of `seed`, for all
/// of its users; the reshard takes over the name of the value. If `value` has
/// that sharding already, inserts nothing. Returns the op whose result is
/// pinned: the reshard or the op that makes `value`.
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
  if (Attribute name = op->removeAttr("graph.name"))
    reshard->setAttr("graph.name", name);
  return reshard;
}

/// Records in the location of every op at which something is communicated which
/// other uses of the axes were possible, for `pcc explain`.
static void recordDecisions(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  Alternatives alternatives(graph, seeds, planner);
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (Operation *op = graph.ops[i].op)
      op->setLoc(
          dist::withDecisions(op->getLoc(), alternatives.decisionsAt(i)));
}

/// Writes the decided shardings into the IR: `dist.split` and `dist.shardings`
/// on ops, `dist.sharding` on arguments and results, and what pins a value.
static void annotate(ShardedGraph &graph) {
  func::FuncOp function = graph.function;
  MLIRContext *context = function.getContext();
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const ShardedOp &op = graph.ops[i];
    const Seed *seed = graph.seedOf(i);
    auto source =
        seed ? StringAttr::get(context, seed->source()) : StringAttr();
    Operation *pinned = op.op;
    if (graph.isSink(i)) {
      function.setResultAttr(
          graph.sinkIndex(i), dist::shardingName,
          dist::ShardingAttr::get(context, op.operandSharding(0)));
      if (seed)
        function.setResultAttr(graph.sinkIndex(i), dist::pinnedName, source);
      continue;
    }
    // A vertex is an op, a pin that follows an op, or an argument.
    if (op.op)
      record(op);
    else if (graph.isPinOfValue(i))
      pinned = pin(graph.valueOf(i, 0), op.resultSharding(0), *seed);
    else
      dist::setSharding(graph.valueOf(i, 0), op.resultSharding(0));
    if (seed && pinned)
      pinned->setAttr(dist::pinnedName, source);
    else if (seed)
      function.setArgAttr(i, dist::pinnedName, source);
  }
}

/// Tags the experts of `graph` and returns the sub-axes that must divide them;
/// none if `--ep` was not given. Fails after an error if it was given and the
/// model has no experts.
static FailureOr<dist::SubAxes> takeExperts(ShardedGraph &graph,
                                            const dist::Mesh &mesh) {
  auto module = graph.function->getParentOfType<ModuleOp>();
  auto numParts = module->getAttrOfType<IntegerAttr>(expertsName);
  if (!numParts)
    return dist::SubAxes();
  if (!tagExperts(graph))
    return emitError(UnknownLoc::get(module.getContext()))
           << "no experts can be divided by --ep " << numParts.getInt()
           << ": no dim of the model batches weights and is routed by a "
              "softmax or a selection";
  return expertAxes(mesh, numParts.getInt());
}

/// Returns the refined graph of `function`. Its tokens are in stripes
/// (Stripes.h) if some axis of role Sequence has several ranks and some causal
/// attention allows stripes. Stripes are not used if fewer ops than without
/// them would have a dim of the sequence to split.
static ShardedGraph refinedGraph(func::FuncOp function, const Seeds &seeds,
                                 const dist::Mesh &mesh) {
  ShardedGraph graph(function, seeds);
  graph.refine();
  int64_t parts = 1;
  for (const dist::Axis &axis : mesh.axes)
    if (roleOf(axis.name) == AxisRole::Sequence)
      parts *= axis.size;
  if (parts > 1) {
    ShardedGraph striped(function, seeds);
    if (striped.refine(parts) &&
        striped.numSequenceOps() >= graph.numSequenceOps())
      return striped;
    LDBG() << "not in stripes: " << striped.numSequenceOps() << " of "
           << graph.numSequenceOps() << " ops have tokens";
  }
  return graph;
}

namespace {
/// Runs the steps of the phase in order: seeds, rewrites that later steps rely
/// on, the refined graph, the search, remarks, and the result in the IR.
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    if (mesh.sizeOf(std::string(dist::timeAxis)) > 1) {
      // The rewrites replace ops, so seeds are resolved again after each.
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
