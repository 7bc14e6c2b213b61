//===- MpiWorld.h - world of ranks as MPI processes -----------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIWORLD_H
#define PCC_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <string>

namespace pcc::runtime {

/// Initializes MPI and creates this rank's World (communicator). May be called
/// once per process. `launchedSize` is the number of ranks in the launcher's
/// environment variables. If `recorder` is null, the world creates a flight
/// recorder (log of the rank's activities) in memory.
///
/// - Errors: exit code 13 if MPI is not available; 12 if MPI does not have
///   `launchedSize` ranks.
/// - Groups: all use MPI_COMM_WORLD and differ by message tag. Creating a group
///   needs no communication.
/// - Reductions: they use the tree of TreeReduce.h. Ranks that are threads of
///   one process use the same tree, so the results are bit-identical.
/// - Destructor: waits for all ranks, at most for the deadline, and finalizes
///   MPI.
///
/// After an error MPI is not finalized. The process must then end with the
/// error's exit code, which makes the launcher end the other ranks. Memory of
/// transfers in flight must stay valid until the process ends.
Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIWORLD_H
