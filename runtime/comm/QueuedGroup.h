//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Group whose operations run on device queues, such as CUDA streams. All
/// buffers are in device memory. A call enqueues an operation and returns, and
/// the host never waits for it. The operation starts after all kernels that
/// were enqueued earlier. Kernels that are enqueued after a call without a
/// ticket, such as allReduce(), start when the operation is complete. After a
/// call with a ticket, such as postAllReduce(), only kernels that are enqueued
/// after wait() wait for it. Each ticket must be passed to wait() exactly once.
/// If an operation fails later, QueuedWorld::poll() returns the error.
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
  /// Enqueues a reduce-scatter (ncclReduceScatter) on a device queue, such as a
  /// CUDA stream. Sets `ticket`, the handle for wait(). `in` has size() blocks
  /// of `count` elements. Member i reduces the blocks i of all members into
  /// `out`. `out` may be block i of `in`. An example with 2 members and a sum:
  ///
  ///            member 0   member 1
  ///   in       a0 a1      b0 b1
  ///   out      a0 + b0    a1 + b1
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
