//===- Collective.h - operations that execute collective instructions -----===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// An asynchronous collective, split into start() and finish() as XLA splits an
/// all-gather into all-gather-start and all-gather-done. Between the two calls,
/// the rank executes other instructions while data is in flight. All members of
/// the group must start and finish their collectives in the same order.
class SplitCollective {
public:
  virtual ~SplitCollective() = default;
  /// Begins the collective. All buffers that the instruction names stay in use
  /// until finish() returns.
  virtual Status start(const RunContext &run) = 0;
  /// Advances the messages of the collective that are in flight
  /// (Group::advance). Does not block.
  virtual void advance() = 0;
  /// Completes the collective. On the host, the result is in its buffer when
  /// finish() returns. On a device with a queue (GPU), finish() may return
  /// earlier. Work that is enqueued after finish() then starts when the result
  /// is in its buffer.
  virtual Status finish(const RunContext &run) = 0;
};

/// Prepares the operation that executes a collective instruction. Derives this
/// rank's copies and messages (CollectivePlan.h) from the rank's coordinates
/// and the layouts of operand and result. `group` is null for a Slice, which
/// only copies locally. Otherwise `group` must outlive the operation. Exit code
/// 11 if the program reserves too little scratch (temporary memory).
Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation);

/// Prepares an asynchronous collective, which must be an all-reduce, a
/// reduce-scatter or an all-gather. `group` must outlive the collective. Exit
/// code 11 if the program reserves too little scratch (temporary memory).
Status prepareSplitCollective(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group,
                              std::unique_ptr<SplitCollective> &collective);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
