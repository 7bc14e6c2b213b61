//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Assigns one axis, after the axes in `before`: chooses for each vertex of
/// `graph` how it uses the parts of the axis, at the least total cost. Compared
/// are penalties, then seconds if a cluster is known, then bytes received per
/// rank, then calls, then memory (plan::Cost). Choices made for earlier axes
/// stay.
///
/// The minimum is found by variable elimination, and is exact unless variables
/// had to be frozen (plan/search/Eliminate.h). It is taken over the plans in
/// which all parts are assigned together. For an axis of role Free the parts
/// are also assigned one by one, and the cheaper plan counts. If the graph
/// leaves too many choices, no op splits two separate dims by parts of the
/// axis.
///
/// Returns the cost of all axes assigned so far, except that penalties are
/// those of this axis alone. Fails where a seed, or the role of the axis,
/// cannot be met, and then changes nothing. Emits an error at the op in
/// question if `reports`.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Assigns all axes at once, each vertex in any of `orders`, so that the
/// minimum is taken over all axes together. Fails without an error, and changes
/// nothing, if no plan costs less than `known` or if there are too many
/// choices.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
