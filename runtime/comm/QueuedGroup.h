//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group whose operations run on device queues, such as CUDA streams. A group
/// is a fixed, ordered set of ranks that communicate. All buffers are in device
/// memory. A call, such as allReduce(), enqueues an operation on a queue and
/// returns. The host does not wait for the operation. On the device, the
/// operation starts when all kernels that were enqueued before the call are
/// complete. There are two kinds of calls:
///
/// - Calls without a ticket, such as allReduce(): kernels that are enqueued
///   after the call start when the operation is complete.
/// - Calls with a ticket, such as postAllReduce(): the ticket is a handle of
///   the operation. Kernels that are enqueued after the call may run during the
///   operation. The caller later passes the ticket to wait(). Kernels that are
///   enqueued after wait() start when the operation is complete. wait() does
///   not block the host. The caller must pass each ticket to wait() exactly
///   once.
///
/// An operation can fail after the call has returned. QueuedWorld::poll() then
/// returns the error.
class QueuedGroup : public Group {
public:
  /// Enqueues an all-reduce on a device queue, such as a CUDA stream, and
  /// returns before the all-reduce is complete. Sets `ticket` to a handle of
  /// the all-reduce. All other arguments have the same meaning as in
  /// allReduce().
  ///
  /// The device may run other kernels during the all-reduce. The caller must
  /// pass `ticket` to wait() before it enqueues kernels that use `out` or
  /// change `in`. Kernels that are enqueued after wait() start when the
  /// all-reduce is complete.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues an all-gather on a device queue, such as a CUDA stream, and
  /// returns before the all-gather is complete. Sets `ticket` to a handle of
  /// the all-gather. All other arguments have the same meaning as in
  /// allGather().
  ///
  /// The device may run other kernels during the all-gather. The caller must
  /// pass `ticket` to wait() before it enqueues kernels that use `out` or
  /// change `in`. Kernels that are enqueued after wait() start when the
  /// all-gather is complete.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues a reduce-scatter on a device queue, such as a CUDA stream, and
  /// returns before the reduce-scatter is complete. Sets `ticket` to a handle
  /// of the reduce-scatter. The caller later passes `ticket` to wait().
  ///
  /// `in` has size() blocks, and each block has `count` elements. Member i
  /// reduces the blocks i of all members, and stores the result in `out`.
  /// `kind` is the reduction, such as a sum. An example with 2 members, blocks
  /// of 1 element and a sum:
  ///
  ///            member 0   member 1
  ///   in       a0 a1      b0 b1
  ///   out      a0 + b0    a1 + b1
  ///
  /// On member i, `out` may be the memory of block i of `in`. In the example,
  /// the result of member 1 may overwrite b1. Counterpart of
  /// MPI_Ireduce_scatter_block and ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
