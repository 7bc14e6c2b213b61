//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan that changes a tensor from the sharding `from` to
/// the sharding `to`. The two shardings have different partial axes. The ranks
/// along a partial axis hold partial tensors: the true value is the reduction
/// of these tensors, such as their sum. Sets `error` of the result if there is
/// no plan. A plan has these steps in this order. A plan may omit steps:
///
///   1. A slice: each rank keeps only a part of its shard. The slice comes
///      first, so that the reductions have fewer elements.
///   2. A reduce_scatter, an all_reduce, or both. They reduce over the axes
///      along which `from` is partial and `to` is not.
///   3. A movement of elements without a reduction, such as an all-gather.
///   4. A mask, if `to` is partial along axes along which `from` is not. The
///      ranks at coordinate 0 of these axes keep their values. All other ranks
///      replace their values by the neutral element of the reduction, such as 0
///      for a sum.
///
/// The microbatch axis is the mesh axis whose coordinates are microbatches
/// rather than ranks. A reduction over this axis is not a step of the plan,
/// because it needs no communication between ranks.
///
/// Examples:
///
///     partial over tp -> split over tp     one reduce_scatter
///     partial over tp -> replicated        one all_reduce
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
