//===- ReshardReduce.h - reshard plans that reduce or create partials -----===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the cheapest plan between two shardings with different partial axes.
/// Sets `error` of the result if there is no plan. A reduction over
/// microbatches is no step of the plan, because it needs no communication.
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
