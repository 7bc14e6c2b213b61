//===- NcclTickets.h - tickets of queued calls, as CUDA events ------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
#define PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/cuda/CudaContext.h"

#include <vector>

namespace pcc::runtime {

/// Makes the GPU's compute stream, which runs the kernels of this rank, wait
/// for NCCL calls on other CUDA streams. After an NCCL call, issue() records a
/// CUDA event on the stream of the call, and sets a ticket: the number of the
/// event. redeem() makes the compute stream wait for this event.
///
/// Each ticket must be passed to redeem() exactly once. A later issue() may use
/// the event again, and return the same ticket again.
class NcclTickets {
public:
  /// Stores `gpu`, which must outlive this object.
  explicit NcclTickets(CudaContext &gpu) : gpu(gpu) {}

  /// Records a CUDA event on `stream`, and sets `ticket` to the number of the
  /// event. The event is complete when the GPU has completed all work that was
  /// enqueued on `stream` before this call. The caller later passes `ticket` to
  /// redeem(), which makes the compute stream wait for the event.
  Status issue(CUstream stream, Ticket &ticket);
  /// Makes the GPU's compute stream wait for a CUDA event. `ticket` is the
  /// number of the event, which an earlier issue() has recorded on another
  /// stream. Kernels that are enqueued on the compute stream after redeem() do
  /// not start before the event is complete. Does not block the host.
  Status redeem(Ticket ticket);

private:
  CudaContext &gpu;
  std::vector<CUevent> events; ///< by ticket
  std::vector<Ticket> unused;  ///< tickets whose events may be reused
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
