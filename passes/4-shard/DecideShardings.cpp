//===- DecideShardings.cpp - give every value a sharding ------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/Alternatives.h"
#include "passes/4-shard/AxisSearch.h"
#include "passes/4-shard/ExpertDims.h"
#include "passes/4-shard/Notes.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/Places.h"
#include "passes/4-shard/Recorded.h"
#include "passes/plan/ClusterPrices.h"
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
/// if it does not lie like this itself; returns the op whose result is pinned.
static Operation *pin(Value value, const dist::Sharding &sharding,
                      const Seed &seed) {
  dist::ShardingAttr from = dist::shardingOf(value);
  Operation *op = value.getDefiningOp();
  if (dist::samePlacement(from.getSharding(), sharding))
    return op;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto reshard = dist::ReshardOp::create(
      builder, causeOf(value, {pinOf(op, seed)}), value.getType(), value, from,
      dist::ShardingAttr::get(op->getContext(), sharding), DenseI64ArrayAttr());
  value.replaceAllUsesExcept(reshard, reshard);
  dist::setSharding(reshard, sharding);
  if (Attribute stage = op->getAttr(pipe::stageName))
    reshard->setAttr(pipe::stageName, stage);
  if (Attribute name = op->removeAttr("graph.name"))
    reshard->setAttr("graph.name", name);
  return reshard;
}

/// Writes next to every op at which something is communicated what else it
/// could have been.
static void recordDecisions(ShardedGraph &graph, const Seeds &seeds,
                            plan::ReshardPlanner &planner) {
  Alternatives alternatives(graph, seeds, planner);
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (Operation *op = graph.ops[i].op)
      op->setLoc(
          dist::withDecisions(op->getLoc(), alternatives.decisionsAt(i)));
}

/// Writes what was decided into the IR.
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

/// The axes of the mesh as they are handed out; of an axis of which some parts
/// divide `experts`, these parts after the others.
static std::vector<Hand> handsOf(const dist::Mesh &mesh, const Seeds &seeds,
                                 const dist::SubAxes &experts) {
  std::vector<Hand> hands;
  for (const dist::Axis &axis : mesh.axes) {
    const AxisRole role = roleOf(axis.name);
    Hand others{{}, experts.empty() ? role : withExperts(role, false)},
        own{{}, withExperts(role, true)};
    for (const dist::SubAxis &part : seeds.partsOf(axis)) {
      bool isOwn = llvm::any_of(experts, [&](const dist::SubAxis &expert) {
        return dist::overlaps(part, expert);
      });
      (isOwn ? own : others).parts.push_back(part);
    }
    for (Hand *hand : {&others, &own})
      if (!hand->parts.empty())
        hands.push_back(std::move(*hand));
  }
  return hands;
}

/// The orders in which the axes of a mesh may be handed out, its own first.
/// What an axis takes is gone for those after it, so that all orders of up to
/// three axes of the user's own are tried; axes with a role keep their places.
static std::vector<std::vector<Hand>> ordersOf(std::vector<Hand> hands) {
  std::vector<size_t> places;
  for (auto [i, hand] : llvm::enumerate(hands))
    if (hand.role == AxisRole::Free)
      places.push_back(i);
  std::vector<std::vector<Hand>> orders{hands};
  std::vector<size_t> order = places;
  while (places.size() <= 3 &&
         std::next_permutation(order.begin(), order.end())) {
    orders.push_back(hands);
    for (auto [place, other] : llvm::zip_equal(places, order))
      orders.back()[place] = hands[other];
  }
  return orders;
}

/// Hands out the axes one after another; returns what all of it costs.
static FailureOr<plan::Cost> handOut(ShardedGraph &graph, ArrayRef<Hand> order,
                                     const Seeds &seeds,
                                     plan::ReshardPlanner &planner,
                                     bool reports) {
  plan::Cost cost;
  double penalty = 0;
  dist::SubAxes before;
  for (const Hand &hand : order) {
    LDBG() << "handing out " << hand.parts.front().axis;
    auto assigned = assignAxis(graph, hand, before, seeds, planner, reports);
    if (failed(assigned))
      return failure();
    cost = *assigned;
    penalty += cost.penalty;
    const std::string &axis = hand.parts.front().axis;
    if (llvm::none_of(before,
                      [&](const auto &other) { return other.axis == axis; }))
      before.push_back(dist::fullAxis(planner.mesh(), axis));
  }
  cost.penalty = penalty;
  return cost;
}

/// Hands out the axes one after another, in the order that costs least; fails
/// after an error if there is none.
static FailureOr<plan::Cost> handOutBest(ShardedGraph &graph,
                                         ArrayRef<std::vector<Hand>> orders,
                                         const Seeds &seeds,
                                         plan::ReshardPlanner &planner) {
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
  if (best.empty())
    return handOut(graph, orders[0], seeds, planner, /*reports=*/true);
  return least;
}

/// Up to so many pairs of choices all axes are handed out at once.
static constexpr double mostPairs = 1 << 15;

/// The orders, and the same where the parts of free axes go their own ways.
static std::vector<std::vector<Hand>>
withParts(std::vector<std::vector<Hand>> orders) {
  for (size_t i = 0, count = orders.size(); i < count; ++i) {
    std::vector<Hand> apart;
    for (const Hand &hand : orders[i])
      if (hand.role != AxisRole::Free)
        apart.push_back(hand);
      else
        for (const dist::SubAxis &part : hand.parts)
          apart.push_back({{part}, hand.role});
    if (apart.size() > orders[i].size())
      orders.push_back(std::move(apart));
  }
  return orders;
}

/// A graph that is small enough may get a better plan than one axis after
/// another finds.
static LogicalResult decide(ShardedGraph &graph, const Seeds &seeds,
                            const dist::SubAxes &experts,
                            plan::ReshardPlanner &planner) {
  const std::vector<Hand> hands = handsOf(planner.mesh(), seeds, experts);
  const auto orders = ordersOf(hands);
  const std::vector<ShardedOp> start = graph.ops;
  auto cost = handOutBest(graph, orders, seeds, planner);
  if (failed(cost))
    return failure();
  const auto all = withParts(orders);
  if (all.back().size() < 2 || cost->isFree() ||
      StrategySpace::numPairs(graph, hands) > mostPairs)
    return success();
  std::vector<ShardedOp> found = std::move(graph.ops);
  graph.ops = start;
  if (failed(assignAxes(graph, all, *cost, seeds, planner)))
    graph.ops = std::move(found);
  return success();
}

/// Tags the experts of `graph` and says which sub-axes are to divide them; none
/// if that was not asked for. Fails after an error if there are no experts.
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
    plan::ReshardPlanner planner(
        mesh, plan::pricesOf(
                  dist::clusterOf(getOperation()->getParentOfType<ModuleOp>()),
                  mesh));
    auto experts = takeExperts(graph, mesh);
    if (failed(experts) || failed(decide(graph, *seeds, *experts, planner)))
      return signalPassFailure();
    noteExperts(graph, *experts);
    for (const dist::Axis &axis : mesh.axes) {
      numAxes += seeds->partsOf(axis).size();
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Tensor)
        noteWholeWeights(graph, axis);
    }
    for (const ShardedOp &op : graph.ops)
      numSplit += llvm::any_of(
          op.axes, [](const dist::SubAxes &axes) { return !axes.empty(); });
    recordDecisions(graph, *seeds, planner);
    annotate(graph);
  }
};
} // namespace
