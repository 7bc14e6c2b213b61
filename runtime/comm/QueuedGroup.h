//===- QueuedGroup.h - group whose calls run on device queues -------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group of devices that have queues, such as CUDA streams. All buffers are
/// device memory, and no call blocks the host:
///
/// - Every call enqueues its operation behind the work that the device was
///   given before the call.
/// - A call without a ticket (allReduce, barrier, …) makes the device's later
///   work wait for the operation.
/// - A call with a ticket does not; the device's later work may overlap with
///   the operation until wait() is called for the ticket. Each ticket is waited
///   for exactly once.
///
/// Errors of the operation itself are reported by World::poll().
class QueuedGroup : public Group {
public:
  /// Begins an all-reduce: allReduce() with a ticket.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, dist::ReductionKind kind,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Begins an all-gather: allGather() with a ticket.
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Begins a reduce-scatter. `in` has size() blocks of `count` elements, and
  /// member i gets the reduction of all members' i-th blocks in `out`. `out`
  /// may be block index() of `in`. Counterpart of MPI_Ireduce_scatter_block and
  /// ncclReduceScatter.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, dist::ReductionKind kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  /// Does nothing: device queues need no help from the host.
  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
