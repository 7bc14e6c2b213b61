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

/// Makes all users of `value` read it in the sharding `sharding`. `seed` is the
/// user's or the model's request for this sharding. `value` is a result of an
/// op.
///
/// - If `value` already has the sharding, changes nothing and returns the op
///   that computes `value`.
/// - Otherwise inserts a reshard after this op. A reshard is an op that changes
///   the sharding of a tensor. All users of `value` then read the result of the
///   reshard. The name that the model gives to `value` moves from the op to the
///   reshard. Returns the reshard.
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

/// Stores the decisions of the sharding search about each op in the location of
/// the op. The command `pcc explain` prints them. A decision belongs to one op
/// and one mesh axis. It contains:
///
/// - the chosen way to compute the op on the ranks along the axis, such as
///   splitting a dim of the result
/// - up to five other ways, such as splitting no dim
/// - the costs of all these ways, such as bytes that a rank receives
static void recordDecisions(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  Alternatives alternatives(graph, seeds, planner);
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (Operation *op = graph.ops[i].op)
      op->setLoc(
          dist::withDecisions(op->getLoc(), alternatives.decisionsAt(i)));
}

/// Stores the result of the sharding search in attributes of the IR:
///
///   dist.split       op: mesh axes that split each loop, such as k of a matmul
///   dist.shardings   op: sharding of each result
///   dist.sharding    function argument or result: its sharding
///   dist.pinned      request for a sharding, such as `--shard 'w=[tp,-]'`
///
/// If an op computes its result in another sharding than a request asks for,
/// inserts an op that changes the sharding (a reshard).
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
    // `op` describes vertex number i of the data-flow graph `graph`. Its member
    // `op.op` is the op of the IR for which the vertex stands, or null.
    // Vertices of function results are handled above. Three kinds of vertices
    // remain:
    //
    //   the vertex stands for                      op.op
    //   an op of the IR                            this op
    //   an argument of the function                null
    //   a request for the sharding of a result     null
    //   of an op, by the user or the model
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

/// Handles the option `--ep N`, by which the user asks pcc to divide the
/// experts of mixture-of-experts layers into N parts:
///
/// - Finds all dims that count experts. An example is the first dim of a weight
///   [8, 64, 256], which contains one matrix for each of 8 experts. In `graph`,
///   marks these dims by the tag FactorTag::Expert.
/// - Returns the sub-axes along which ranks divide the experts. A sub-axis is a
///   part of a mesh axis. For example, an axis dp of size 4 has two sub-axes of
///   size 2. With `--ep 2`, one of these two divides the experts.
///
/// Without `--ep`, changes nothing and returns an empty list. Emits an error
/// and fails if the user gives `--ep` and no dim counts experts.
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

/// Builds the data-flow graph of `function` for the sharding search. The ops on
/// both sides of a value divide each dim into equal factors where possible. If
/// ranks cannot divide the samples of one microbatch evenly, the batch dim
/// becomes two factors, such as 2 microbatches of 3 samples. Requests in
/// `seeds` to split the batch are changed to fit. If the mesh axis cp has
/// several ranks, the tokens of causal attention are cut into stripes
/// (Stripes.h). They stay uncut if pcc would recognize a dim of tokens in fewer
/// ops with stripes than without.
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
/// function. It does the following:
///
/// - It reads the shardings that the user or the model requests for values.
/// - It builds a data-flow graph. The vertices of this graph are the ops, the
///   arguments and the results of the function.
/// - It chooses how each mesh axis splits each op. The choices are those with
///   the least cost, such as the least communication. They obey the requests.
/// - It stores the resulting shardings as attributes in the IR.
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    if (mesh.sizeOf(std::string(dist::timeAxis)) > 1) {
      // `seeds` contains the requests for shardings. Each request points to an
      // op. The next call replaces reductions over the batch by new ops, and
      // erases ops that have no users. It may erase an op to which a request
      // points. Find the requests again after the call.
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
