//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Assigns the mesh axis of `assignment`: decides which dims of each node it
/// splits. Axes in `before` keep their splits. Returns the cost, with penalties
/// for this axis. Fails without a change if no plan meets all rules. If
/// `reports` is true, emits an error, but lets `dp` leave inputs whole.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Assigns all mesh axes in one search. `orders` lists the orders of the axes
/// to consider, because earlier axes may use up a dim. Fails without an error
/// or a change if the search is too large, or if it finds no plan cheaper than
/// `known`.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
