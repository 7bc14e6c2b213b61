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

/// Creates an object that executes an asynchronous collective by calls of a
/// library, such as NCCL. The collective is an all-reduce, a reduce-scatter or
/// an all-gather. `group` must be a QueuedGroup.
///
/// The result is null if the collective is an all-gather and two members hold
/// the same elements. Each member needs these elements only once, but the
/// library would send them twice. In all other cases, the result is not null.
std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEDCOLLECTIVE_H
