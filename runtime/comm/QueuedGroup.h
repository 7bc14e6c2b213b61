//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group of devices that have queues, such as CUDA streams. All buffers are
/// device memory, and no call blocks the host:
///
/// - Every call enqueues its operation. The operation starts after all work
///   that was enqueued on the device before the call.
/// - After a call without a ticket (allReduce, barrier, …), work that is
///   enqueued later waits for the operation.
/// - After a call with a ticket, work that is enqueued later may overlap with
///   the operation. wait() for the ticket makes the work after it wait. Each
///   ticket must be passed to wait() exactly once.
///
/// QueuedWorld::poll() reports errors of the operation itself.
class QueuedGroup : public Group {
public:
  /// Enqueues an all-reduce like allReduce(), and sets `ticket`, by which
  /// wait() waits for it.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues an all-gather like allGather(), and sets `ticket`, by which
  /// wait() waits for it.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Begins a reduce-scatter. `in` has size() blocks of `count` elements.
  /// Member i receives in `out` the reduction of block i of all members,
  /// `count` elements. `out` may be block index() of `in`. Counterpart of
  /// MPI_Ireduce_scatter_block and ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
