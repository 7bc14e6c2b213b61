//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Decides for each vertex (op, argument or result) of `graph` which dims the
/// mesh axis of `assignment` splits. The splits over the axes in `before` do
/// not change. Returns the cost of the plan, which the search minimizes. For a
/// large graph, the cost may be above the minimum. The penalty in the cost
/// counts only this axis.
///
/// Fails without a change if no plan meets the shardings in `seeds`, if a
/// reshard is impossible, or if `mb` cannot cut the batch. Without `reports`,
/// fails also if `dp` does not split the batch of an input, and emits no error.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Decides for each vertex (op, argument or result) of `graph` which dims all
/// mesh axes split, in one search for the lowest cost. Each element of `orders`
/// lists all mesh axes in some order. The order matters, because an axis cannot
/// split a dim that earlier axes have split completely. The search considers
/// the splits that result from any of the orders. `seeds` has the requested
/// shardings. Fails without an error and changes nothing if the search finds no
/// plan that costs less than `known`, or if the search would take too long.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
