//===- DecideShardings.cpp - give every value a sharding ------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/AxisSearch.h"
#include "passes/4-shard/Notes.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/Recorded.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "decide-shardings"

namespace pcc::shard {
#define GEN_PASS_DEF_DECIDESHARDINGS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Gives all users of `value` a copy that lies as `sharding` and has its name,
/// if it does not lie like this itself.
static void pin(Value value, const dist::Sharding &sharding) {
  dist::ShardingAttr from = dist::shardingOf(value);
  if (dist::samePlacement(from.getSharding(), sharding))
    return;
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto reshard = dist::ReshardOp::create(
      builder, op->getLoc(), value.getType(), value, from,
      dist::ShardingAttr::get(op->getContext(), sharding), DenseI64ArrayAttr());
  value.replaceAllUsesExcept(reshard, reshard);
  dist::setSharding(reshard, sharding);
  if (Attribute stage = op->getAttr(pipe::stageName))
    reshard->setAttr(pipe::stageName, stage);
  if (Attribute name = op->removeAttr("graph.name"))
    reshard->setAttr("graph.name", name);
}

/// Writes what was decided into the IR.
static void annotate(ShardedGraph &graph) {
  func::FuncOp function = graph.function;
  MLIRContext *context = function.getContext();
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const ShardedOp &op = graph.ops[i];
    if (graph.isSink(i)) {
      function.setResultAttr(
          graph.sinkIndex(i), dist::shardingName,
          dist::ShardingAttr::get(context, op.operandSharding(0)));
      continue;
    }
    if (op.op)
      record(op);
    else if (graph.isPinOfValue(i))
      pin(graph.valueOf(i, 0), op.resultSharding(0));
    else
      dist::setSharding(graph.valueOf(i, 0), op.resultSharding(0));
  }
}

/// The orders in which the axes of a mesh may be handed out, its own first.
/// What an axis takes is gone for those after it, so that all orders of up to
/// three axes of the user's own are tried; axes with a role keep their places.
static std::vector<std::vector<dist::Axis>> ordersOf(const dist::Mesh &mesh) {
  std::vector<size_t> places;
  for (auto [i, axis] : llvm::enumerate(mesh.axes))
    if (axis.size > 1 && roleOf(axis.name) == AxisRole::Free)
      places.push_back(i);
  std::vector<std::vector<dist::Axis>> orders{mesh.axes};
  std::vector<size_t> order = places;
  while (places.size() <= 3 &&
         std::next_permutation(order.begin(), order.end())) {
    orders.push_back(mesh.axes);
    for (auto [place, axis] : llvm::zip_equal(places, order))
      orders.back()[place] = mesh.axes[axis];
  }
  return orders;
}

/// Hands out the axes in this order; returns what all of it costs.
static FailureOr<plan::Cost>
handOut(ShardedGraph &graph, ArrayRef<dist::Axis> order, const Seeds &seeds,
        plan::ReshardPlanner &planner, bool reports) {
  plan::Cost cost;
  double penalty = 0;
  dist::SubAxes before;
  for (const dist::Axis &axis : order) {
    dist::SubAxes parts = seeds.partsOf(axis);
    if (parts.empty())
      continue;
    LDBG() << "handing out " << axis.name;
    auto assigned = assignAxis(graph, parts, before, roleOf(axis.name), seeds,
                               planner, reports);
    if (failed(assigned))
      return failure();
    cost = *assigned;
    penalty += cost.penalty;
    before.push_back(dist::fullAxis(planner.mesh(), axis.name));
  }
  cost.penalty = penalty;
  return cost;
}

/// Hands out the axes in the order that costs least; fails after an error if
/// there is none.
static LogicalResult decide(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  const auto orders = ordersOf(planner.mesh());
  if (orders.size() == 1)
    return handOut(graph, orders[0], seeds, planner, /*reports=*/true);
  const std::vector<ShardedOp> start = graph.ops;
  std::vector<ShardedOp> best;
  plan::Cost least = plan::Cost::forbidden();
  for (const auto &order : orders) {
    graph.ops = start;
    auto cost = handOut(graph, order, seeds, planner, /*reports=*/false);
    if (succeeded(cost) && *cost < least) {
      least = *cost;
      best = graph.ops;
    }
  }
  graph.ops = best.empty() ? start : best;
  return best.empty()
             ? LogicalResult(handOut(graph, orders[0], seeds, planner, true))
             : success();
}

namespace {
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    ShardedGraph graph(getOperation(), *seeds);
    graph.refine();
    plan::ReshardPlanner planner(mesh);
    if (failed(decide(graph, *seeds, planner)))
      return signalPassFailure();
    for (const dist::Axis &axis : mesh.axes) {
      numAxes += seeds->partsOf(axis).size();
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Tensor)
        noteWholeWeights(graph, axis);
    }
    for (const ShardedOp &op : graph.ops)
      numSplit += llvm::any_of(
          op.axes, [](const dist::SubAxes &axes) { return !axes.empty(); });
    annotate(graph);
  }
};
} // namespace
