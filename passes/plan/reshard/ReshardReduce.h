//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan of a reshard between two shardings with different
/// partial axes. For example, a plan from partial sums over tp to a replicated
/// value is an all-reduce over tp. Sets `error` of the result if there is no
/// plan. A sharding may also be partial over microbatches. The plan has no step
/// for this reduction, because each rank accumulates its own microbatches
/// without communication.
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

/// Returns the ReduceScatter or AllReduce `kind` over `axes`. Let the rank's
/// operand have b bytes, and let n be the number of ranks along `axes`. The
/// rank then receives b (n - 1) / n bytes in a ReduceScatter, and twice as
/// many in an AllReduce.
ReshardStep reductionStep(dist::CollectiveKind kind, const dist::SubAxes &axes,
                          const dist::Sharding &before,
                          const dist::Sharding &after, const dist::Shape &shape,
                          int64_t elementBytes, const dist::Mesh &mesh);

/// Returns `sharding` without the partial axes `axes`.
dist::Sharding dropPartials(dist::Sharding sharding, const dist::SubAxes &axes);

/// Returns the sub-axes of the microbatch axis along which `sharding` is
/// partial. The microbatch axis is the mesh axis whose coordinates are
/// microbatches rather than ranks. If a tensor is partial along it, each
/// microbatch computes one partial tensor. The true value is the reduction of
/// these tensors, such as their sum.
dist::SubAxes partialAlongTime(const dist::Sharding &sharding);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
