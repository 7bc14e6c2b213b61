//===- SingleStep.h - the one collective between two shardings ------------===//
#ifndef PCC_PASSES_PLAN_RESHARD_SINGLESTEP_H
#define PCC_PASSES_PLAN_RESHARD_SINGLESTEP_H

#include "passes/plan/reshard/Reshard.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Returns the placement of `sharding` without partial sums over microbatches,
/// which no collective reduces.
dist::Sharding placementOnRanks(const dist::Sharding &sharding);

/// Returns the one step that changes a tensor from `from` to `to`, with the
/// bytes that a rank receives in it. Returns an error (CannotRead) if a tensor
/// needs no step or more than one. Ignores partial sums over microbatches.
StatusOr<ReshardStep> singleStep(const dist::Sharding &from,
                                 const dist::Sharding &to,
                                 const dist::Shape &shape, int64_t elementBytes,
                                 const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_SINGLESTEP_H
