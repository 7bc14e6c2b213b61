//===- Pricing.h - costs of reshards, of computation and of broken rules --===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PRICING_H
#define PCC_PASSES_4_SHARD_GRAPH_PRICING_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns whether the search may start a reshard from the sharding `form` of a
/// value. A reshard changes the sharding of a value. The ops that read the
/// value need it in different shardings, and `numForms` is the number of
/// shardings. The result is false if `numForms` is larger than 64 and `form`
/// has a view. A view says that an op reads a window of a dim, such as a slice
/// or a halo.
///
/// Example: 200 ops read 200 different slices of a value. Each slice is a
/// sharding with a view. With a reshard from each sharding to each other
/// sharding, the search would have to price about 200 * 200 = 40,000 reshards.
inline bool mayBeSource(const dist::Sharding &form, size_t numForms) {
  constexpr size_t many = 64;
  return numForms <= many || !dist::hasView(form);
}

/// Returns the bytes that one rank holds of a tensor, padding included.
int64_t localBytes(mlir::RankedTensorType type, const dist::Sharding &sharding);

/// Returns the cost of one reshard. A reshard changes the sharding of a tensor.
/// `plan` lists the steps of the reshard, such as a slice and an all-gather.
/// The cost contains
///
/// - the bytes that one rank receives in all steps
/// - the number of steps in which ranks communicate. An all-gather counts, but
///   a slice does not.
/// - the time in picoseconds. The time is 0 if `planner` has no cluster
///   profile. A cluster profile contains the bandwidths and the speeds of the
///   hardware.
plan::Cost costOf(const plan::ReshardPlan &plan,
                  const plan::ReshardPlanner &planner);

/// Returns whether a tensor with this sharding is a partial result along the
/// axis `mb`. The parts along `mb` are microbatches: each rank computes one
/// microbatch after another. The results of all microbatches still have to be
/// combined.
///
/// Example: the batch has 8 samples, and there are 2 microbatches of 4 samples
/// each. The gradient of a weight is a sum over all 8 samples. A rank computes
/// one gradient per microbatch, which is a sum over 4 samples. Each of the two
/// gradients is a partial result along `mb`. The op `graph.accumulate` adds
/// both.
bool isPartialInTime(const dist::Sharding &sharding);

/// Returns whether a tensor with this sharding differs between microbatches:
/// the axis `mb` splits a dim of the tensor, or the tensor is a partial result
/// along `mb` (isPartialInTime()).
bool isCutInTime(const dist::Sharding &sharding);

/// Returns the cost of a reshard of one tensor. A reshard changes the sharding
/// of a tensor, here from `from` to `to`. `type` is the type of the whole
/// tensor, before it is sharded. The cost includes the penalty
/// `brokenRulePenalty` in two cases:
///
/// - `planner` finds no way to change the sharding from `from` to `to`.
/// - isPartialInTime is true for exactly one of `from` and `to`. Example: with
///   `from`, a rank has one gradient per microbatch. With `to`, the rank has
///   the sum of these gradients. A reshard moves data between ranks. It cannot
///   add the gradients of different microbatches.
plan::Cost priceOf(plan::ReshardPlanner &planner, mlir::RankedTensorType type,
                   const dist::Sharding &from, const dist::Sharding &to);

/// Penalty for each rule that a plan breaks. One rule is that each reshard of
/// the plan must be possible. The search compares the penalties of two plans
/// first, and chooses the plan with the smaller penalty. A plan that breaks 2
/// rules has the penalty 2e15 and is better than a plan that breaks 3 rules,
/// with the penalty 3e15. With an infinite penalty, both plans would be equal.
inline constexpr double brokenRulePenalty = 1e15;

/// Returns the time that the rank with the largest part of `op` needs to
/// compute its part, in picoseconds. The result is rounded to a whole number. A
/// sum of whole numbers does not depend on the order in which they are added.
/// The result is 0 if `planner` has no cluster profile. A cluster profile
/// contains the bandwidths and the speeds of the hardware.
double computePicoseconds(const ShardedOp &op,
                          const plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PRICING_H
