//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Assigns one axis: chooses for each vertex (op, argument or result) of
/// `graph` how it uses the parts (sub-axes of prime size) of the axis, with the
/// least total cost. `before` holds the axes assigned earlier, whose
/// assignments stay. Costs (plan::Cost) are compared by these criteria, in this
/// order: penalty, seconds (if the planner has a cluster profile), received
/// bytes per rank, calls, memory.
///
/// The minimum is found by variable elimination (plan/search/Eliminate.h). It
/// is exact unless variables were frozen, that is, fixed to a locally best
/// value.
///
/// - All parts of the axis are assigned together. For an axis with role Free,
///   they are also assigned one by one, and the cheaper plan is kept.
/// - If the search would be too large, the parts may only split factors (parts
///   of a dim) that are next to each other in one dim.
///
/// Returns the cost of all axes assigned so far. The penalty in this cost
/// counts only the rules that this axis breaks. Fails, and changes nothing, if
/// a seed (requested sharding) or the role of the axis cannot be fulfilled. If
/// `reports`, then emits an error at the op that causes the failure.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Assigns all axes at once and finds the minimum over all axes together.
/// `orders` lists orders of the axes; each vertex (op, argument or result) may
/// use any of them. Fails without an error, and changes nothing, if no plan
/// costs less than `known` or if there are too many choices.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
