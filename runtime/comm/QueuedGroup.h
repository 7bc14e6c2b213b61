//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group (fixed set of ranks) of devices with queues, such as CUDA streams.
/// All buffers are device memory. A call enqueues its operation behind earlier
/// work, and does not block the host.
///
/// - Calls without a ticket (handle), such as allReduce(): all later work waits
///   for the operation.
/// - Calls with a ticket, such as postAllReduce(): later work may overlap with
///   the operation, up to wait() for the ticket. Work after wait() starts after
///   the operation. Pass each ticket to wait() once.
///
/// QueuedWorld::poll() reports errors of operations that have been enqueued.
class QueuedGroup : public Group {
public:
  /// Enqueues an all-reduce with the arguments of allReduce(). Sets `ticket`, a
  /// handle of the all-reduce. Pass it to wait() before enqueuing work that
  /// uses the result.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues an all-gather with the arguments of allGather(). Sets `ticket`, a
  /// handle of the all-gather. Pass it to wait() before enqueuing work that
  /// uses the result.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Enqueues a reduce-scatter, and sets `ticket`, the handle for wait(). `in`
  /// has size() blocks of `count` elements. Member i gets the reduced block i
  /// in `out`, which may be that block of `in`. An example with 2 members and
  /// `count` = 1:
  ///
  ///            member 0   member 1
  ///   in       a0 a1      b0 b1
  ///   out      a0 + b0    a1 + b1
  ///
  /// Counterpart of MPI_Ireduce_scatter_block and ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
