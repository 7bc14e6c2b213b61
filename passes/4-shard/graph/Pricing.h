//===- Pricing.h - costs of reshards, of computation and of broken rules --===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns whether a reshard may start from the sharding `form` of a value that
/// is needed in `numForms` shardings. False for a form with a view (halo) if
/// there are more than 64 forms, as of a value that is cut into hundreds of
/// slices. Otherwise the number of reshards to price would be the square of the
/// number of slices.
inline bool mayBeSource(const dist::Sharding &form, size_t numForms) {
  constexpr size_t many = 64;
  return numForms <= many || !dist::hasView(form);
}

/// Returns the bytes that one rank holds of a tensor, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// Returns the cost of `plan`: received bytes per rank, number of calls, and
/// time in picoseconds. The time is 0 if `planner` has no cluster profile
/// (bandwidths and speeds).
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Returns whether a value with this sharding is a sum over the batch that is
/// not complete: each microbatch holds one addend, and a `graph.accumulate`
/// must add all of them.
bool isPartialInTime(const dist::Sharding &sharding);

/// Returns the cost of a reshard (change of sharding) of one tensor from `from`
/// to `to`. Adds `brokenRulePenalty` in two cases:
///
/// - The reshard is impossible.
/// - One sharding is that of a sum over the batch which still has one addend in
///   each microbatch (isPartialInTime), and the other sharding is not. A
///   reshard moves data between ranks; it cannot add values of different
///   microbatches.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Penalty for each rule that a plan breaks, larger than the bytes of any
/// model. It is finite, so that the search can find the plan that breaks the
/// fewest rules.
inline constexpr double brokenRulePenalty = 1e15;

/// Returns the time in picoseconds (despite the name) that one rank needs to
/// compute its part of `op`. It is a whole number, so that a sum of times does
/// not depend on the order. Returns 0 without a cluster profile (bandwidths and
/// speeds).
double computeSeconds(const ShardedOp &op, const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
