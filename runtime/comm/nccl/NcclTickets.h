//===- NcclTickets.h - tickets of queued calls, as CUDA events ------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H
#define PCC_RUNTIME_COMM_NCCL_NCCLTICKETS_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/cuda/CudaContext.h"

#include <vector>

namespace pcc::runtime {

/// Makes the GPU's compute stream wait for NCCL calls on other CUDA streams.
/// The compute stream runs the kernels of this rank. The caller takes these
/// steps:
///
/// 1. Enqueue an NCCL call on a stream.
/// 2. Call issue() with this stream. issue() records a CUDA event behind the
///    NCCL call, and returns a ticket. The ticket is the number of the event.
/// 3. Call redeem() with the ticket. The compute stream then waits for the
///    event. Kernels that are enqueued on the compute stream later start after
///    the NCCL call is complete.
///
/// redeem() must be called exactly once for each ticket. A later issue() may
/// use the event again, and return the same ticket again.
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
