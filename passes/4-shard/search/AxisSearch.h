//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Decides for each vertex of `graph` which dims the mesh axis of `assignment`
/// splits. A vertex is an op, an argument or a result. A plan consists of the
/// decisions for all vertices. `before` lists the mesh axes that earlier calls
/// have assigned. This call does not change the splits over these axes.
///
/// The search uses variable elimination (plan/search/Eliminate.h) to find the
/// plan with the least cost. If the graph is too large for an exact result, the
/// search fixes some decisions early. The cost of the plan may then be larger
/// than the minimum. A cost (plan::Cost) has five members:
///
/// 1. penalty: a number for the undesired properties of the plan. Example: the
///    user has requested a sharding, and the plan then needs a reshard (change
///    of sharding) that is impossible. The penalty of a plan without undesired
///    properties is 0.
/// 2. time; 0 if the user gave no cluster profile
/// 3. bytes that a rank receives
/// 4. number of collectives
/// 5. memory
///
/// To compare two costs, the search compares their penalties. If the penalties
/// are equal, the search compares the times, and so on.
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
/// Returns the cost of the plan. The penalty of this cost contains only
/// penalties for this axis. The other four members count the effects of this
/// axis and of all axes in `before`.
///
/// Fails, and does not change `graph`, in these cases:
///
/// - No plan meets all requested shardings. `seeds` contains these shardings.
/// - The plan contains an impossible reshard (change of sharding).
/// - The axis is `mb`, and the batch cannot be cut into microbatches.
/// - `reports` is false, and the axis is `dp` and does not split the batch of
///   some input of the model.
///
/// If `reports` is true, the function emits an error when it fails.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Searches for the plan with the least cost, and stores the plan in `graph`. A
/// plan decides for each vertex of `graph` which dims each mesh axis splits. A
/// vertex is an op, an argument or a result. The search decides about all mesh
/// axes at the same time. The parameters are:
///
/// - `orders`: each element is a list of all mesh axes in some order. The order
///   matters, because an axis cannot split a dim that earlier axes have split
///   completely. For each vertex, the search considers the ways of splitting
///   that result from any of the orders.
/// - `known`: the cost of a plan that the caller has found already.
/// - `seeds`: the requested shardings.
/// - `planner`: computes the costs of reshards (changes of sharding).
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
