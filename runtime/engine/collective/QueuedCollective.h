//===- QueuedCollective.h - collectives on devices with queues ------------===//
//
// The group of such a device (QueuedGroup) reduces and gathers by calls of its
// own library, such as NCCL, and the host never blocks.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"
#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// Creates the operation for a collective that the QueuedGroup `group` supports
/// as a whole: an all-reduce, a reduce-scatter, or a plain all-gather. Returns
/// null for any other collective; it is executed by messages according to
/// `plan`.
std::unique_ptr<Operation>
makeQueuedCollective(const LoadContext &context,
                     const program::InstructionT &instruction, Group *group,
                     const CollectivePlan &plan);

/// Creates an asynchronous all-reduce, reduce-scatter or all-gather. Returns
/// null for an all-gather that is not plain; it is executed by messages.
std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
