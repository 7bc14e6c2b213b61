//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan between two shardings with different partial axes.
/// The value of the tensor is a reduction, such as a sum, over each partial
/// axis. Sets `error` of the result if there is no plan. A plan has some of
/// these steps in this order. A reduction over microbatches is not a step,
/// because it needs no communication:
///  1. A slice, so that the reductions have fewer elements.
///  2. A reduce_scatter, an all_reduce, or both.
///  3. A movement of elements without a reduction, such as an all-gather.
///  4. A mask, which makes the tensor partial along further axes.
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
