//===- AxisOrder.cpp - assignment of all mesh axes, in the cheapest order -===//

#include "passes/4-shard/search/AxisOrder.h"
#include "passes/4-shard/search/AxisSearch.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns the round, counted from 0, in which the search assigns the mesh axis
/// of `assignment`. A sharding that the user set may set the round, as Shardy's
/// priorities do: [tp p1] sets round 1 for tp. The default is 0.
static int priorityOf(const AxisAssignment &assignment, const Seeds &seeds) {
  return seeds.priorityOf(assignment.parts.front().axis);
}

/// Returns the steps of the search. One step assigns one axis of `mesh`, or
/// some of its sub-axes. The steps are sorted by round (priorityOf), then in
/// mesh order. `experts` lists the sub-axes that divide experts. An axis with
/// only some of its sub-axes in `experts` has two steps. The second step
/// assigns the sub-axes in `experts`.
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

/// Appends a step for each axis that may divide stored weights, gradients and
/// optimizer states among ranks, as in ZeRO and FSDP. Two axes get no step:
/// `tp`, which divides weights in an earlier step, and `mb`, whose coordinates
/// are microbatches.
static void addStorage(const dist::Mesh &mesh, const Seeds &seeds,
                       std::vector<AxisAssignment> &assignments) {
  for (const dist::Axis &axis : mesh.axes)
    if (axis.size > 1 && axis.name != dist::timeAxis &&
        roleOf(axis.name) != AxisRole::Tensor)
      assignments.push_back({seeds.partsOf(axis), AxisRole::Storage});
}

/// Returns the orders of `assignments` to try. The first one is the given
/// order. The other orders permute the assignments of axes with a name other
/// than `dp`, `mb`, `cp` and `tp`. Each of these assignments stays in its round
/// (priorityOf). If there are more than three of them, returns only the given
/// order.
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

/// Assigns the mesh axes in the given order, and stores the plan in `graph`.
/// Returns its cost, with the penalties of all axes. Fails if there is no plan
/// for some axis, and emits an error only if `reports` is true.
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

/// Tries each order in `orders`, and keeps the cheapest plan in `graph`.
/// Returns its cost. If every order fails, emits the error of the first order
/// and fails.
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

/// Largest number of pairs for which a joint search assigns all mesh axes at
/// once. For each operand, a pair is one possible split of the op that produces
/// the operand and one possible split of the op that reads the operand.
static constexpr double mostPairs = 1 << 15;

/// Returns `orders`, followed by variants. An order usually has one step for
/// each axis. In its variant, each axis with a name other than `dp`, `mb`, `cp`
/// and `tp` has one step for each of its sub-axes of prime size. For example,
/// an axis of size 4 has two steps. An order without an axis that can be
/// divided in this way has no variant.
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
  // A joint search over all axes may find a cheaper plan. Skip the joint search
  // in four cases: the axes are assigned in different rounds (priorityOf),
  // there is only one step, the plan costs nothing, or the graph has more than
  // `mostPairs` pairs of splits.
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
