//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group (fixed set of ranks) of devices that have queues, such as CUDA
/// streams. All buffers are device memory, and no call blocks the host:
///
/// - Every call enqueues its operation. The operation starts after all work
///   that was enqueued on the device before the call.
/// - Some calls return no ticket (allReduce, barrier, …). Work that is enqueued
///   after such a call waits for the call's operation.
/// - Other calls return a ticket (handle of the operation). Work that is
///   enqueued after such a call may overlap with the operation, until wait() is
///   called for the ticket. Work that is enqueued after wait() starts after the
///   operation. Each ticket must be passed to wait() exactly once.
///
/// An operation that fails after it was enqueued is reported by
/// QueuedWorld::poll().
class QueuedGroup : public Group {
public:
  /// Enqueues an all-reduce with the arguments of allReduce(), and sets
  /// `ticket`, the handle for wait(). Work that is enqueued after wait() starts
  /// after the all-reduce.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues an all-gather with the arguments of allGather(), and sets
  /// `ticket`, the handle for wait(). Work that is enqueued after wait() starts
  /// after the all-gather.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues a reduce-scatter, and sets `ticket`, the handle for wait(). `in`
  /// has size() blocks of `count` elements. Member i receives in `out` the
  /// element-wise reduction of block i over all members, `count` elements.
  /// `out` may be this member's block, number index(), of `in`. Counterpart of
  /// MPI_Ireduce_scatter_block and ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
