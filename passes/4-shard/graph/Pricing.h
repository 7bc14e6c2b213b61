//===- Pricing.h - costs of reshards, of computation and of broken rules --===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns the bytes that one rank holds of a tensor, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// Returns the cost of `plan`, a reshard plan of `planner`: the bytes that a
/// rank receives, the number of calls, and the time in picoseconds. The time is
/// 0 if the planner has no cluster profile (bandwidths and speeds). Costs are
/// then compared by bytes.
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Returns whether a value with this sharding is partial along the time axis.
/// Each microbatch then has one addend of the value, and `graph.accumulate`
/// must add the addends of all microbatches.
bool isPartialInTime(const dist::Sharding &sharding);

/// Returns the cost of a reshard of one tensor from `from` to `to`. The penalty
/// `brokenRulePenalty` is added in two cases:
///
/// - The reshard is impossible.
/// - Only one of the shardings is partial along the time axis
///   (isPartialInTime). A reshard cannot add up microbatches.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Penalty that is added to the cost of a plan for each rule that the plan
/// breaks. The penalty is larger than the bytes of any model. It is finite, so
/// that the search can find the plan that breaks the fewest rules and report
/// the ops that break them.
inline constexpr double brokenRulePenalty = 1e15;

/// Returns the time that one rank needs to compute its part of `op`. In spite
/// of the name, the unit is the picosecond. The time is a whole number, so that
/// a sum of times does not depend on the order of the additions. Returns 0 if
/// the planner has no cluster profile (bandwidths and speeds).
double computeSeconds(const ShardedOp &op, const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
