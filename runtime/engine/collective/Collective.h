//===- Collective.h - operations that execute collective instructions -----===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// An asynchronous collective. start() begins the collective, and finish()
/// completes the collective. The rank executes other instructions between the
/// two calls. XLA divides an all-gather into all-gather-start and
/// all-gather-done for this purpose.
///
/// The ranks that take part in a collective are members of a group. All members
/// of a group must call start() and finish() of their collectives in the same
/// order.
class SplitCollective {
public:
  virtual ~SplitCollective() = default;
  /// Begins the collective. Its buffers stay in use until finish() returns.
  virtual Status start(const RunContext &run) = 0;
  /// Sends and receives as much data of the collective as is possible without
  /// waiting for other ranks. If the ranks are threads or MPI processes, data
  /// moves only while a rank calls a communication function. A rank that
  /// computes should therefore call advance() from time to time. On a GPU, this
  /// function does nothing, because data moves without the host.
  virtual void advance() = 0;
  /// Completes the collective. On the host, the result buffer is complete when
  /// finish() returns. On a GPU, work that is enqueued after this call reads
  /// the complete result.
  virtual Status finish(const RunContext &run) = 0;
};

/// Creates the object that executes the collective `instruction`, and stores
/// the object in `operation`. `group` is the communicator of the ranks that
/// take part. `instruction` and `group` must outlive `operation`. `group` is
/// null for a Slice, which copies a part of the operand on the same rank.
/// `context` has the program, the mesh and the device.
///
/// Returns an error with exit code 11 if the program reserves too little
/// temporary memory for the collective.
Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation);

/// Creates the object that executes an asynchronous collective, and stores the
/// object in `collective`. `instruction` is an instruction of the program. The
/// instruction describes an all-reduce, a reduce-scatter or an all-gather.
/// `context` has the program, the mesh and the device. `group` is the
/// communicator of the ranks that take part. `instruction` and `group` must
/// outlive `collective`.
///
/// Returns an error with exit code 11 if the program reserves too little
/// temporary memory for the collective.
Status prepareSplitCollective(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group,
                              std::unique_ptr<SplitCollective> &collective);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
