//===- AxisSearch.h - optimal use of one axis by all ops of a graph -------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H

#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Assigns the mesh axis of `assignment`: decides which dims of each node the
/// axis splits. Splits over the axes in `before` do not change. Returns the
/// cost of the plan, with the penalties for this axis.
///
/// If each plan breaks a rule, for example because it needs an impossible
/// reshard, fails and does not change `graph`. If `reports` is true, also emits
/// an error. Exception: `reports` is true, the axis is `dp`, and the only rule
/// that the best plan breaks is that `dp` must split all inputs of the model.
/// The function then uses this plan and succeeds.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, const AxisAssignment &assignment,
           const dist::SubAxes &before, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

/// Assigns all mesh axes in one search. Each element of `orders` is an order of
/// the mesh axes that the search considers. The order matters: if dp splits a
/// dim of size 2 first, tp cannot split this dim any more. Fails if the search
/// is too large, or if it finds no plan cheaper than `known`. A failure emits
/// no error and does not change `graph`.
mlir::LogicalResult assignAxesJointly(
    ShardedGraph &graph, llvm::ArrayRef<std::vector<AxisAssignment>> orders,
    const plan::Cost &known, const Seeds &seeds, plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISSEARCH_H
