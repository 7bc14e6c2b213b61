//===- NcclWorld.h - world of ranks with a GPU each -----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
#define PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Rendezvous.h"

#include <memory>

namespace pcc::runtime {

class CudaContext;

/// Connects rank `rank` to the other ranks of a run of `size` ranks by NCCL,
/// and sets `world`. Blocks until all ranks have called this function. `gpu` is
/// the GPU of this rank, and must outlive `world`. `rendezvous` connects the
/// processes of all ranks without NCCL. `seconds` limits each wait for other
/// ranks, until World::setDeadline() changes the limit. Buffers are in GPU
/// memory, except those of World::all(), which are in host memory.
///
/// Exit codes: 13 if NCCL is absent or older than 2.27; 14 if another rank does
/// not call within `seconds`.
Status openNcclWorld(int rank, int size, CudaContext &gpu,
                     std::shared_ptr<Rendezvous> rendezvous,
                     std::shared_ptr<FlightRecorder> recorder, double seconds,
                     std::unique_ptr<World> &world);

/// Sets `version` to the version of the NCCL library, such as "2.28.9". Returns
/// an error with exit code 13 if NCCL is absent or too old.
Status findNccl(std::string &version);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
