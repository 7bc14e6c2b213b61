//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Assigns one axis: chooses for each vertex of `graph` how it uses the axis,
/// with the least total cost. `before` contains the axes that were assigned
/// earlier. Their use does not change. Costs (plan::Cost) are compared by
/// penalty, seconds (with a cluster profile), received bytes per rank, number
/// of collectives, and memory, in this order.
///
/// Variable elimination (plan/search/Eliminate.h) finds the minimum. It is
/// exact unless variables were frozen (fixed to a locally best value).
///
/// - The parts of the axis are its sub-axes of prime size. They are assigned
///   together. For an axis with role Free, assigning them one by one is tried,
///   too.
/// - If the search would be too large, the parts may only split factors (parts
///   of a dim) that are neighbors in one dim.
///
/// Returns the cost of all axes assigned so far, with the penalty of this axis
/// only. Fails, and changes nothing, if a seed (requested sharding) or the role
/// of the axis cannot be fulfilled. If `reports` is true, a failure emits an
/// error.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Assigns all axes at once and finds the minimum over all axes together.
/// `orders` lists orders of the axes. The search may use a different one of
/// these orders for each vertex. Fails without an error, and changes nothing,
/// if no plan costs less than `known` or if there are too many choices.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
