//===- MpiWorld.h - world of ranks as MPI processes -----------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIWORLD_H
#define PCC_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <string>

namespace pcc::runtime {

/// Initializes MPI and creates this rank's World (communicator). May be called
/// once per process. `launchedSize` is the number of ranks according to the
/// launcher. If `recorder` is null, activities are logged in memory.
///
/// - Errors: exit code 13 if MPI is not available; 12 if MPI does not have
///   `launchedSize` ranks.
/// - Reductions: use the tree of TreeReduce.h, so the results are bit-identical
///   to those of ranks that are threads.
/// - Destructor: waits for all ranks, at most for the deadline, and finalizes
///   MPI.
///
/// After an error MPI is not finalized. The process must then end with the
/// error's exit code, and keep the memory of transfers until then.
Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIWORLD_H
