//===- NcclTickets.h - events that stand for tickets ----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
#define PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/cuda/CudaContext.h"

#include <vector>

namespace pcc::runtime {

/// A ticket has an event until it is waited for; events are used again.
class NcclTickets {
public:
  explicit NcclTickets(CudaContext &gpu) : gpu(gpu) {}

  /// A ticket for what `stream` has been given so far.
  Status issue(CUstream stream, Ticket &ticket);
  /// What the GPU computes from now on waits for it.
  Status redeem(Ticket ticket);

private:
  CudaContext &gpu;
  std::vector<CUevent> events; ///< by ticket
  std::vector<Ticket> unused;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
