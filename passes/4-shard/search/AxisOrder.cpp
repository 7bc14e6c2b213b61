//===- AxisOrder.cpp - assignment of all mesh axes, in the cheapest order -===//

#include "passes/4-shard/search/AxisOrder.h"
#include "passes/4-shard/search/AxisSearch.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns the round (0, 1, …) of the mesh axis of `assignment`. The search
/// decides which dims the axes of round 0 split, then which dims the axes of
/// round 1 split, and so on. A requested sharding in `seeds` may set the round
/// of an axis. An axis without such a request has round 0.
static int priorityOf(const AxisAssignment &assignment, const Seeds &seeds) {
  return seeds.priorityOf(assignment.parts.front().axis);
}

/// Returns the steps in which the search assigns the axes of `mesh`. A step
/// decides which dims of each op some sub-axes (parts) of one axis split. The
/// steps are sorted by the round of their axis (priorityOf), and then in mesh
/// order. `seeds` (requested shardings) determines the rounds and the sub-axes.
/// `experts` lists the sub-axes that divide the experts of a mixture-of-experts
/// model. An axis with sub-axes in `experts` and others has two steps: first
/// the others, then those in `experts`.
static std::vector<AxisAssignment> assignmentsOf(const dist::Mesh &mesh,
                                                 const Seeds &seeds,
                                                 const dist::SubAxes &experts) {
  std::vector<AxisAssignment> assignments;
  for (const dist::Axis &axis : mesh.axes) {
    const AxisRole role = roleOf(axis.name);
    AxisAssignment others{{},
                          experts.empty() ? role : withExperts(role, false)},
        own{{}, withExperts(role, true)};
    for (const dist::SubAxis &part : seeds.partsOf(axis)) {
      bool isOwn = llvm::any_of(experts, [&](const dist::SubAxis &expert) {
        return dist::overlaps(part, expert);
      });
      (isOwn ? own : others).parts.push_back(part);
    }
    for (AxisAssignment *assignment : {&others, &own})
      if (!assignment->parts.empty())
        assignments.push_back(std::move(*assignment));
  }
  llvm::stable_sort(assignments,
                    [&](const AxisAssignment &a, const AxisAssignment &b) {
                      return priorityOf(a, seeds) < priorityOf(b, seeds);
                    });
  return assignments;
}

/// Appends a step with the role Storage for each axis of `mesh`. In this step,
/// the axis may divide stored weights, gradients and optimizer states among
/// ranks, as in ZeRO and FSDP. Three kinds of axes get no step: an axis of size
/// 1, the axis `tp`, which divides weights in an earlier step, and the axis
/// `mb`, whose coordinates are microbatches and not ranks. `seeds` (requested
/// shardings) may cut an axis into sub-axes.
static void addStorage(const dist::Mesh &mesh, const Seeds &seeds,
                       std::vector<AxisAssignment> &assignments) {
  for (const dist::Axis &axis : mesh.axes)
    if (axis.size > 1 && axis.name != dist::timeAxis &&
        roleOf(axis.name) != AxisRole::Tensor)
      assignments.push_back({seeds.partsOf(axis), AxisRole::Storage});
}

/// Returns one or more orders of the steps in `assignments`, the given order
/// first. A step decides which dims one mesh axis splits. The order matters,
/// because an axis cannot split a dim that earlier axes have split completely.
/// Only steps with the role Free (axes not named `dp`, `mb`, `cp` or `tp`)
/// change places, and only with steps of the same round (priorityOf). With more
/// than three Free steps, returns only the given order. For the steps tp, x and
/// y, the orders are (tp, x, y) and (tp, y, x).
static std::vector<std::vector<AxisAssignment>>
ordersOf(std::vector<AxisAssignment> assignments, const Seeds &seeds) {
  std::vector<size_t> places;
  for (auto [i, assignment] : llvm::enumerate(assignments))
    if (assignment.role == AxisRole::Free)
      places.push_back(i);
  std::vector<std::vector<AxisAssignment>> orders{assignments};
  std::vector<size_t> order = places;
  while (places.size() <= 3 &&
         std::next_permutation(order.begin(), order.end())) {
    if (llvm::any_of(llvm::zip_equal(places, order), [&](auto pair) {
          return priorityOf(assignments[std::get<0>(pair)], seeds) !=
                 priorityOf(assignments[std::get<1>(pair)], seeds);
        }))
      continue;
    orders.push_back(assignments);
    for (auto [place, other] : llvm::zip_equal(places, order))
      orders.back()[place] = assignments[other];
  }
  return orders;
}

/// Searches for a plan and stores the plan in `graph`. The search takes one
/// step of `order` after another. In one step, the search decides which dims of
/// each op one mesh axis (or a part of the axis) splits.
///
/// Returns the cost of the plan. The search gives a penalty for undesired
/// properties, such as a broken rule. The penalties of all steps are added in
/// the returned cost. Fails if the search finds no plan for some step. Emits an
/// error in this case only if `reports` is true.
static FailureOr<plan::Cost>
assignInOrder(ShardedGraph &graph, ArrayRef<AxisAssignment> order,
              const Seeds &seeds, plan::ReshardPlanner &planner, bool reports) {
  plan::Cost cost;
  double penalty = 0;
  dist::SubAxes before;
  for (const AxisAssignment &assignment : order) {
    LDBG() << "assigning " << assignment.parts.front().axis;
    auto assigned =
        assignAxis(graph, assignment, before, seeds, planner, reports);
    if (failed(assigned))
      return failure();
    cost = *assigned;
    penalty += cost.penalty;
    const std::string &axis = assignment.parts.front().axis;
    if (llvm::none_of(before,
                      [&](const auto &other) { return other.axis == axis; }))
      before.push_back(dist::fullAxis(planner.mesh(), axis));
  }
  cost.penalty = penalty;
  return cost;
}

/// Tries each order of the mesh axes in `orders`, and keeps the cheapest plan
/// in `graph`. For each order, the search takes one axis after another and
/// decides which dims of each op the axis splits. A plan is the result for all
/// axes. Returns the cost of the cheapest plan. If every order fails, emits the
/// error of the first order and fails.
static FailureOr<plan::Cost>
assignInBestOrder(ShardedGraph &graph,
                  ArrayRef<std::vector<AxisAssignment>> orders,
                  const Seeds &seeds, plan::ReshardPlanner &planner) {
  if (orders.size() == 1)
    return assignInOrder(graph, orders[0], seeds, planner, /*reports=*/true);
  const std::vector<ShardedOp> start = graph.ops;
  std::vector<ShardedOp> best;
  plan::Cost least = plan::Cost::forbidden();
  for (const auto &order : orders) {
    graph.ops = start;
    auto cost = assignInOrder(graph, order, seeds, planner, /*reports=*/false);
    if (succeeded(cost) && *cost < least) {
      least = *cost;
      best = graph.ops;
    }
  }
  graph.ops = best.empty() ? start : best;
  if (best.empty())
    return assignInOrder(graph, orders[0], seeds, planner, /*reports=*/true);
  return least;
}

/// Largest number of pairs in a graph for which one search assigns all mesh
/// axes at once. A pair belongs to one operand. It is a way of splitting the op
/// that produces the operand, and a way of splitting the op that reads it. For
/// example, 3 ways of the first op and 4 ways of the second op are 12 pairs.
/// StrategySpace::numPairs adds the pairs of all operands.
static constexpr double mostPairs = 1 << 15;

/// Returns `orders`, followed by variants of these orders. An order is a list
/// of steps. A step decides which dims one mesh axis, or some of its sub-axes,
/// split. In a variant, each axis with the role Free has one step for each of
/// its sub-axes of prime size. Axes that are not named `dp`, `mb`, `cp` or `tp`
/// have the role Free. Example: x is such an axis, with the sub-axes x0 and x1.
///
///   order     step 1: tp    step 2: x0 and x1 together
///   variant   step 1: tp    step 2: x0                   step 3: x1
///
/// An order has no variant if the variant would be equal to it.
static std::vector<std::vector<AxisAssignment>>
withParts(std::vector<std::vector<AxisAssignment>> orders) {
  for (size_t i = 0, count = orders.size(); i < count; ++i) {
    std::vector<AxisAssignment> apart;
    for (const AxisAssignment &assignment : orders[i])
      if (assignment.role != AxisRole::Free)
        apart.push_back(assignment);
      else
        for (const dist::SubAxis &part : assignment.parts)
          apart.push_back({{part}, assignment.role});
    if (apart.size() > orders[i].size())
      orders.push_back(std::move(apart));
  }
  return orders;
}

LogicalResult pcc::shard::assignMeshAxes(ShardedGraph &graph,
                                         const Seeds &seeds,
                                         const dist::SubAxes &experts,
                                         plan::ReshardPlanner &planner) {
  std::vector<AxisAssignment> assignments =
      assignmentsOf(planner.mesh(), seeds, experts);
  if (!StoredWeights(graph).empty())
    addStorage(planner.mesh(), seeds, assignments);
  const auto orders = ordersOf(assignments, seeds);
  const std::vector<ShardedOp> start = graph.ops;
  auto cost = assignInBestOrder(graph, orders, seeds, planner);
  if (failed(cost))
    return failure();
  // A search over all axes at the same time may find a cheaper plan. `all`
  // lists the orders in which it may take the axes. There is no such search in
  // four cases:
  //
  // - The axes have different rounds. Round 0 must be decided before round 1.
  // - No order in `all` has more than one step.
  // - The plan found so far costs nothing.
  // - The graph has more than `mostPairs` pairs, which would take too long.
  const auto all = withParts(orders);
  const bool hasRounds =
      llvm::any_of(assignments, [&](const AxisAssignment &assignment) {
        return priorityOf(assignment, seeds) !=
               priorityOf(assignments.front(), seeds);
      });
  if (hasRounds || all.back().size() < 2 || cost->isFree() ||
      StrategySpace::numPairs(graph, assignments) > mostPairs)
    return success();
  std::vector<ShardedOp> found = std::move(graph.ops);
  graph.ops = start;
  if (failed(assignAxesJointly(graph, all, *cost, seeds, planner)))
    graph.ops = std::move(found);
  return success();
}
