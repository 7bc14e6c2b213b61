//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan between two shardings with different partial axes.
/// Sets `error` of the result if there is none. Order of the steps:
///
///   1. slices, because they shrink the operand of the reductions
///   2. reductions over the axes along which only `from` is partial
///   3. other movements of elements
///   4. a mask, if there are axes along which only `to` is partial: the rank at
///      coordinate 0 keeps the value, all others get the neutral element
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
