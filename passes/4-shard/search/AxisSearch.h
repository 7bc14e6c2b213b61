//===- AxisSearch.h - what one axis splits, at the least cost -------------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Hands out an axis after those in `before`: chooses what it does to each op
/// of `graph` such that the bytes received per rank are least, then the calls,
/// then the memory; exactly, by variable elimination, among the plans that give
/// the parts out together and, if the axis is free, one by one. Where a large
/// graph leaves too many ways to do that, no op gets parts in dims apart.
/// Choices that were made for earlier axes stay. Returns what all that has been
/// handed out costs, penalties of this axis alone. Fails where a seed, or the
/// nature of the axis, cannot be met, after an error at the op if it `reports`.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Hands out all axes at once, any op in any of `orders`; so the choice is
/// exact over all of them. Fails without an error, and changes nothing, if
/// there is none that costs less than `known`, or if there are too many choices
/// to look at all.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
