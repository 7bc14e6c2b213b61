//===- Pricing.h - costs of reshards, of computation and of broken rules --===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns the bytes that a rank holds of a tensor, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// Returns the cost of a plan of `planner`: bytes received per rank, calls and,
/// if the planner knows a cluster, time in picoseconds. Without a cluster the
/// time is 0, so that bytes decide.
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Returns whether microbatches hold partial sums of the value, which only
/// `graph.accumulate` can add up.
bool isPartialInTime(const dist::Sharding &sharding);

/// Returns the cost of one reshard of a tensor from `from` to `to`. A reshard
/// that is impossible costs `brokenRulePenalty`, and so does one that would
/// start or end a partial sum over microbatches.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Penalty of a plan for each rule that it breaks. It outweighs the bytes of
/// any model but is finite, so that penalties add up. The search can then find
/// the plan that breaks the fewest rules, and the op that breaks one can be
/// reported.
inline constexpr double brokenRulePenalty = 1e15;

/// Returns the time in which one rank computes its part of `op`, in whole
/// picoseconds despite the name. Sums of whole numbers do not depend on their
/// order. Returns 0 if the planner knows no cluster, so that bytes decide.
double computeSeconds(const ShardedOp &op, const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
