//===- NcclWorld.h - world of ranks with a GPU each -----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
#define PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Rendezvous.h"

#include <memory>

namespace pcc::runtime {

class CudaContext;

/// Connects rank `rank` to the other ranks of a run by NCCL. Sets `world` to a
/// World, the object by which this rank creates groups of ranks. The run has
/// `size` ranks. All ranks must call openNcclWorld(). The function blocks until
/// all ranks have called it.
///
/// - `gpu`: the GPU of this rank. Each rank has its own GPU. `gpu` must outlive
///   `world`.
/// - `rendezvous`: channel between the processes of all ranks. The channel does
///   not use NCCL.
/// - `recorder`: log of the latest activities of this rank.
/// - `seconds`: longest time of each wait for other ranks. World::setDeadline()
///   can change the time later.
///
/// The buffers of a group are in GPU memory. The group World::all(), which
/// contains all ranks, is an exception: its buffers are in host memory.
///
/// Returns exit code 13 if NCCL is absent or older than 2.27. Returns exit code
/// 14 if another rank does not call openNcclWorld() within `seconds`.
Status openNcclWorld(int rank, int size, CudaContext &gpu,
                     std::shared_ptr<Rendezvous> rendezvous,
                     std::shared_ptr<FlightRecorder> recorder, double seconds,
                     std::unique_ptr<World> &world);

/// Sets `version` to the version of the NCCL library, such as "2.28.9". Returns
/// an error with exit code 13 if NCCL is absent or too old.
Status findNccl(std::string &version);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
