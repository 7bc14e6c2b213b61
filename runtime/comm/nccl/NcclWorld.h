//===- NcclWorld.h - world of ranks with a GPU each -----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
#define PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Rendezvous.h"

#include <memory>

namespace pcc::runtime {

class CudaContext;

/// Creates the World (communicator) of rank `rank` in a job of `size` ranks,
/// each with its own GPU. All ranks must call. Blocks until they have, at most
/// for `seconds`, which is also the world's initial deadline.
///
/// - Groups: buffers are in GPU memory (QueuedGroup). Only the group all() has
///   buffers in host memory.
/// - Errors: exit code 13 if NCCL is absent; 14 if a rank does not call in
///   time.
///
/// `gpu` must outlive the world.
Status openNcclWorld(int rank, int size, CudaContext &gpu,
                     std::shared_ptr<Rendezvous> rendezvous,
                     std::shared_ptr<FlightRecorder> recorder, double seconds,
                     std::unique_ptr<World> &world);

/// Sets `version` to the version of the NCCL library, such as "2.28.9". Exit
/// code 13 if NCCL is absent or too old.
Status findNccl(std::string &version);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
