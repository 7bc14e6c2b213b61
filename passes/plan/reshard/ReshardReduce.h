//===- ReshardReduce.h - Plans that end or begin partial values -----------===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// The cheapest plan between placements whose partials differ. Slices come
/// before reductions, which they shrink; other movements come after them.
ReshardPlan planReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes,
                          const dist::Mesh &mesh, const Prices &prices);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDREDUCE_H
