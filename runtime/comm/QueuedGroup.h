//===- QueuedGroup.h - a group of devices with queues ---------------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDGROUP_H
#define PCC_RUNTIME_COMM_QUEUEDGROUP_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// A group that moves memory of devices with queues of their own (Device.h).
/// Every call begins what it says, behind what the device was given before, and
/// returns; a wait, or a call without a ticket, makes what the device is given
/// later wait for it. What goes wrong is told by World::poll.
class QueuedGroup : public Group {
public:
  /// allReduce, allGather, and the like of MPI_Ireduce_scatter_block and
  /// ncclReduceScatter, with a ticket as post() has.
  virtual Status postAllReduce(const void *in, void *out, size_t count,
                               ElementType type, Reduction kind,
                               const ActionId &action, Ticket &ticket) = 0;
  virtual Status postAllGather(const void *in, void *out, size_t bytes,
                               const ActionId &action, Ticket &ticket) = 0;
  /// Member i gets the reduction of the i-th `count` elements; `out` may be
  /// where they are in `in`.
  virtual Status postReduceScatter(const void *in, void *out, size_t count,
                                   ElementType type, Reduction kind,
                                   const ActionId &action, Ticket &ticket) = 0;

  void advance() override {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDGROUP_H
