//===- NcclWorld.h - ranks that have a GPU each ---------------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
#define PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Rendezvous.h"

#include <memory>

namespace pcc::runtime {

class CudaContext;

/// The world of ranks that meet at `rendezvous`. Its groups are QueuedGroups;
/// all() takes memory of the host, abort() tells the rendezvous, too. `gpu`
/// must outlive it. Exit code 13 without NCCL, 14 if ranks do not come.
Status openNcclWorld(int rank, int size, CudaContext &gpu,
                     std::shared_ptr<Rendezvous> rendezvous,
                     std::shared_ptr<FlightRecorder> recorder, double seconds,
                     std::unique_ptr<World> &world);

/// The version of NCCL, "2.28.9"; exit code 13 if it is not there or too old.
Status findNccl(std::string &version);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLWORLD_H
