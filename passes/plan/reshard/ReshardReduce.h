//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan between two shardings whose partial axes differ.
/// Axes along which only `from` is partial are reduced. If only `to` is partial
/// along an axis, the last step of the plan is a mask: the rank at coordinate 0
/// keeps the value, all other ranks get the neutral element. Slices come before
/// reductions, because slices shrink the operand. Other movements come after
/// the reductions. If there is no plan, `error` of the result is set.
///
///     partial over tp -> split over tp     one reduce_scatter
///     partial over tp -> replicated        one all_reduce
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
