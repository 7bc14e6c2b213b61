//===- CollectiveScratch.h - scratch that a collective needs --------------===//

#ifndef PCC_RUNTIME_PROGRAM_COLLECTIVESCRATCH_H
#define PCC_RUNTIME_PROGRAM_COLLECTIVESCRATCH_H

#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// Returns the number of elements of scratch that the compiler reserves for the
/// collective `spec`: the largest `scratchElements` of planCollective() on any
/// rank in any microbatch. Scratch is temporary memory of a rank. For a group
/// of n members, the time grows with n log n, except for an all-to-all between
/// uneven shards, where it grows with the square.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVESCRATCH_H
