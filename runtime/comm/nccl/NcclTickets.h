//===- NcclTickets.h - tickets of queued calls, as CUDA events ------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
#define PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/cuda/CudaContext.h"

#include <vector>

namespace pcc::runtime {

/// Issues tickets: handles of operations on CUDA streams. A ticket is the index
/// of a CUDA event, which redeem() frees for reuse. Redeem each ticket exactly
/// once.
class NcclTickets {
public:
  /// Stores `gpu`, which must outlive this object.
  explicit NcclTickets(CudaContext &gpu) : gpu(gpu) {}

  /// Sets `ticket` to the handle of all work enqueued on `stream` so far.
  Status issue(CUstream stream, Ticket &ticket);
  /// Makes later work on the GPU's compute stream wait for the work of
  /// `ticket`. Does not block the host.
  Status redeem(Ticket ticket);

private:
  CudaContext &gpu;
  std::vector<CUevent> events; ///< by ticket
  std::vector<Ticket> unused;  ///< tickets whose events may be reused
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
