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
/// - After a call that returns no ticket (allReduce, barrier, …), work that is
///   enqueued later waits for the operation.
/// - After a call that returns a ticket (handle of the operation), work that is
///   enqueued later may overlap with the operation. wait() for the ticket makes
///   work that is enqueued after wait() start after the operation. Each ticket
///   must be passed to wait() exactly once.
///
/// Errors of the operation itself are reported by QueuedWorld::poll().
class QueuedGroup : public Group {
public:
  /// Enqueues an all-reduce with the arguments of allReduce(), and sets
  /// `ticket`. A later wait() for `ticket` waits for this operation.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues an all-gather with the arguments of allGather(), and sets
  /// `ticket`. A later wait() for `ticket` waits for this operation.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues a reduce-scatter, and sets `ticket`, for which wait() waits. `in`
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
