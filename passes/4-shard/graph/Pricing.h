//===- Pricing.h - costs of reshards, of computation and of broken rules --===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns whether the search considers reshards of a value that start from the
/// sharding `form`. `numForms` is the number of shardings in which the value
/// may occur. Returns true for up to 64 shardings. For more than 64, returns
/// false if `form` has a dim with a window (halo), such as the operand of a
/// slice. This bounds the number of reshards: 200 slices of one value would
/// give 200 · 200 = 40,000 pairs of shardings.
inline bool mayBeSource(const dist::Sharding &form, size_t numForms) {
  constexpr size_t many = 64;
  return numForms <= many || !dist::hasView(form);
}

/// Returns the bytes that one rank holds of a tensor, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// Returns the cost of the reshard `plan`: bytes received by one rank, number
/// of steps that communicate, and picoseconds. The time is 0 if `planner` has
/// no cluster profile (bandwidths and speeds).
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Returns whether a tensor with this sharding is partial along the microbatch
/// axis `mb`. Example: the gradient of a weight is a sum with one addend per
/// microbatch. Before this sum is complete, the gradient is partial along `mb`.
bool isPartialInTime(const dist::Sharding &sharding);

/// Returns whether a tensor with this sharding differs between microbatches:
/// the axis `mb` splits a dim of the tensor, or the tensor is a partial result
/// along `mb` (isPartialInTime()).
bool isCutInTime(const dist::Sharding &sharding);

/// Returns the cost of a reshard from `from` to `to`. `type` is the unsharded
/// type. Adds `brokenRulePenalty` if `planner` finds no reshard, or if only one
/// of the two shardings is partial along the microbatch axis `mb`. A reshard
/// cannot add up microbatches.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Cost added for each error in a plan, such as an impossible reshard. It is
/// finite, because a plan with 2 errors must be better than a plan with 3.
inline constexpr double brokenRulePenalty = 1e15;

/// Returns the compute time of `op`, in picoseconds, on the rank with the most
/// work. Returns 0 if `planner` has no cluster profile (bandwidths and speeds).
/// The time is a whole number, so that sums of times do not depend on the
/// order.
double computePicoseconds(const ShardedOp &op,
                          const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
