//===- MpiWorld.h - world of ranks as MPI processes -----------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIWORLD_H
#define PCC_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <string>

namespace pcc::runtime {

/// Initializes MPI, and sets `world` to this rank's view of all ranks. May be
/// called once per process. Returns an error with exit code 13 if MPI is not
/// available. Returns an error with exit code 12 if MPI has another number of
/// ranks than `launchedSize`.
///
/// - `launchedSize`: number of ranks according to the environment variables of
///   the launcher, such as mpirun.
/// - `recorder`: log of this rank's latest activities. If it is null, the
///   activities are logged in memory.
///
/// Reductions combine the values of the ranks in the fixed order of
/// TreeReduce.h. Ranks that are threads use this order too. The results of MPI
/// processes and of threads are therefore bit-identical.
///
/// The destructor of `world` waits for all ranks, and then finalizes MPI. This
/// wait lasts at most World::deadline() seconds. If a rank is missing, or if
/// the run has ended by an error, the destructor does not finalize MPI.
///
/// After an error, MPI may still use the memory of messages in flight. The
/// process must not free this memory, and must end with the error's exit code.
Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIWORLD_H
