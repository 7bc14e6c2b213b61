//===- MpiWorld.h - ranks as MPI processes --------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIWORLD_H
#define PCC_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <string>

namespace pcc::runtime {

/// Opens MPI and joins the job; once per process. Fails with exit code 13
/// without the library and 12 if MPI sees another number of ranks than
/// `launchedSize`, which the launcher's variables give.
///
/// Groups share MPI_COMM_WORLD and differ by tag, so that making them costs no
/// communication; reductions add in the order of TreeReduce.h, as ranks as threads
/// do. Destroying the world meets all ranks and finalizes MPI, unless the run
/// has failed: then the process must end with the error's code, which makes the
/// launcher end the other ranks. After a failure, memory of calls under way
/// must stay until the process ends. Without a recorder
/// one is made.
Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIWORLD_H
