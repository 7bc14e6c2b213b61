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

/// Creates the operation for a collective that a single library call (such as
/// ncclAllReduce) executes. `group` must be a QueuedGroup, a communicator that
/// enqueues its calls on the device. Supported collectives:
///
/// - an all-reduce;
/// - a reduce-scatter;
/// - an all-gather to which every member contributes its whole input.
///
/// Returns null for any other collective. The caller then sends point-to-point
/// messages according to `plan`.
std::unique_ptr<Operation>
makeQueuedCollective(const LoadContext &context,
                     const program::InstructionT &instruction, Group *group,
                     const CollectivePlan &plan);

/// Creates an asynchronous all-reduce, reduce-scatter or all-gather that the
/// library of `group` (such as NCCL) executes. Returns null for an all-gather
/// to which some member does not contribute its whole input. The caller then
/// uses point-to-point messages.
std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
