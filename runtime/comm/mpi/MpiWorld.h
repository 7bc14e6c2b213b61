//===- MpiWorld.h - world of ranks as MPI processes -----------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIWORLD_H
#define PCC_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <string>

namespace pcc::runtime {

/// Initializes MPI, and sets `world` to this rank's World object. May be called
/// once per process. If `recorder` is null, this rank's activities are logged
/// in memory. Returns exit code 13 if MPI is not available, and 12 if MPI has
/// another number of ranks than the launcher states (`launchedSize`).
///
/// The destructor of `world` waits for all ranks, for at most World::deadline()
/// seconds, and finalizes MPI. After an error it does not finalize MPI. The
/// process must then keep the memory of messages in flight until it exits.
Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIWORLD_H
