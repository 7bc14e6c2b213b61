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

/// Creates the operation of a collective that a single library call (such as
/// ncclAllReduce) executes. Supported collectives:
///
/// - an all-reduce;
/// - a reduce-scatter;
/// - an all-gather to which every member contributes its whole input.
///
/// Returns null for any other collective. `group` must be a QueuedGroup.
std::unique_ptr<Operation>
makeQueuedCollective(const LoadContext &context,
                     const program::InstructionT &instruction, Group *group,
                     const CollectivePlan &plan);

/// Creates an asynchronous all-reduce, reduce-scatter or all-gather that a
/// library (such as NCCL) executes. Supports an all-gather only if every member
/// contributes its whole input; otherwise returns null.
std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
