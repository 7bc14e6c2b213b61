//===- Collective.h - operations that execute collective instructions -----===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// An asynchronous collective, split into a start and a finish as XLA splits
/// all-gather-start and all-gather-done. Between the two, the rank executes
/// other instructions while data is in flight. All members of the group must
/// start and finish their collectives in the same order.
class SplitCollective {
public:
  virtual ~SplitCollective() = default;
  /// Begins the collective. All buffers that the instruction names are in use
  /// until finish() returns.
  virtual Status start(const RunContext &run) = 0;
  /// Advances the collective's messages that are in flight, without blocking
  /// (Group::advance).
  virtual void advance() = 0;
  /// Completes the collective. After the return the result is in its buffer. On
  /// a device with a queue, the result is there before work that is enqueued
  /// later.
  virtual Status finish(const RunContext &run) = 0;
};

/// Prepares the operation that executes a collective instruction. Derives the
/// rank's plan (CollectivePlan.h) from the layouts and the rank's coordinates.
/// `group` is null for a Slice; it must outlive the operation. Exit code 11 if
/// the program reserves too little scratch for the plan.
Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation);

/// Prepares an asynchronous collective, which must be an all-reduce, a
/// reduce-scatter or an all-gather. Otherwise like prepareCollective().
Status prepareSplitCollective(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group,
                              std::unique_ptr<SplitCollective> &collective);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
