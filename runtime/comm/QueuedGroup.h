//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group (fixed set of ranks) of devices that have queues, such as CUDA
/// streams. All buffers are device memory. A call enqueues its operation behind
/// the work that is already enqueued, and does not block the host.
///
/// - A call without a ticket (allReduce, barrier, …): all work that is enqueued
///   after the call waits for the operation.
/// - A call with a ticket, the handle of the operation: work that is enqueued
///   after the call may overlap with the operation. Work that is enqueued after
///   wait() for the ticket runs after the operation. Each ticket must be passed
///   to wait() exactly once.
///
/// QueuedWorld::poll() reports an operation that fails after it was enqueued.
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
  /// has size() blocks of `count` elements. Block i is reduced element-wise
  /// over all members, and member i receives the result in `out`. An example
  /// with 2 members and `count` = 1:
  ///
  ///            member 0   member 1
  ///   in       a0 a1      b0 b1
  ///   out      a0 + b0    a1 + b1
  ///
  /// `out` may be block index() of `in`. Counterpart of
  /// MPI_Ireduce_scatter_block and ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing, because device queues make progress without the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
