//===- QueuedCollective.h - collectives of devices with queues ------------===//
//
// Their groups reduce and gather themselves, and nobody waits on the host.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"
#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// A collective over a QueuedGroup that such a group does better than with
/// pieces; null for others, and for slices, which have no group.
std::unique_ptr<Operation>
makeQueuedCollective(const LoadContext &context,
                     const program::InstructionT &instruction, Group *group,
                     const CollectivePlan &plan);

/// An all-reduce, reduce-scatter or all-gather in two parts; null for a gather
/// that is better done with pieces.
std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
