//===- Pricing.h - what choices cost --------------------------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Bytes of the part of a tensor that a rank holds, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// What a plan of `planner` costs: seconds count only where a cluster is known.
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Whether microbatches give partial sums, which only `graph.accumulate` adds
/// up.
bool isPartialInTime(const dist::Sharding &sharding);

/// What it costs to change the sharding of a tensor once. Where there is no way
/// a rule is broken: out of reach, but still to be added up.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Outweighs all bytes, but can be counted: a plan that has to break a rule is
/// found, and reported at the op that breaks it.
inline constexpr double brokenRulePenalty = 1e15;

/// Time in which one rank computes its part of the op, by the cluster of
/// `planner`; 0 where none is known, so that bytes decide. In picoseconds, in
/// whole numbers: sums do not depend on their order.
double computeSeconds(const ShardedOp &op, const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
