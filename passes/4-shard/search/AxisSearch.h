//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Decides for each vertex of `graph` which dims the mesh axis of `assignment`
/// splits. A vertex is an op, an argument or a result. `before` lists the mesh
/// axes that earlier calls have assigned. This call does not change the splits
/// over these axes.
///
/// The search uses variable elimination (plan/search/Eliminate.h) to find the
/// decisions with the least total cost. If the graph is too large for an exact
/// result, the search fixes some decisions early. The total cost may then be
/// larger than the minimum. Two costs (plan::Cost) are compared by these
/// members, in this order:
///
/// 1. penalty
/// 2. time; 0 if the user gave no cluster profile
/// 3. bytes that a rank receives
/// 4. number of collectives
/// 5. memory
///
/// `assignment.parts` lists the sub-axes of the axis. The size of a sub-axis is
/// prime: an axis of 4 ranks has two sub-axes of size 2. One search decides all
/// sub-axes at the same time. There are three special cases:
///
/// - The axis has the role Free: its name is not `dp`, `mb`, `cp` or `tp`. The
///   function also tries to decide one sub-axis after another, and keeps the
///   cheaper result.
/// - The experts of a mixture-of-experts model are divided among ranks. The
///   function searches twice, and keeps the cheaper result. In the second
///   search, the axis may split fewer dims of the ops around the experts
///   (AxisAssignment::movesTokens = false).
/// - The search would take minutes. The function then leaves out most ways in
///   which one sub-axis splits one dim of an op, and another sub-axis splits
///   another dim of the op (AxisAssignment::mixesDims = false).
///
/// Returns the cost of the plan. The member `penalty` counts only the rules
/// that the plan breaks for this axis. The other members count the effects of
/// this axis and of all axes in `before`.
///
/// Fails, and does not change `graph`, if the role of the axis or a sharding in
/// `seeds` cannot be fulfilled. `seeds` contains the shardings that the user
/// requests. A failure emits an error only if `reports` is true.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Decides for all mesh axes at once which dims of each vertex of `graph` they
/// split. A vertex is an op, an argument or a result. A plan is the result of
/// such a search. The function looks for the plan with the least total cost.
///
/// - `orders`: each element is a list of all axes in some order. The order
///   matters, because an axis cannot split a dim that earlier axes have split
///   completely. For each vertex, the search considers the ways of splitting
///   that result from any of the orders.
/// - `known`: the cost of a plan that the caller has found already.
/// - `seeds`: the requested shardings.
/// - `planner`: prices communication.
///
/// Fails without an error, and changes nothing, in two cases:
///
/// - The search finds no plan that costs less than `known`.
/// - The search would take too long, because there are too many ways of
///   splitting the vertices.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
