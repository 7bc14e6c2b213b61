//===- CpuTarget.cpp - CPU ranks, connected by MPI ------------------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/mpi/MpiWorld.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/launch/rank/RankTarget.h"
#include "runtime/launch/rank/Watchdog.h"

#include <cstdio>

namespace pcc::runtime {

/// Initializes MPI, and stores the communicator of all ranks in `world`.
/// `start` contains the arguments with which this rank was started.
/// `start.identity` contains the rank of this process and the number of ranks,
/// as the launcher has passed them in environment variables. A launcher is a
/// program that starts the ranks, such as mpirun. Returns an error if MPI gives
/// this process another rank, or if MPI has another number of ranks.
///
/// MPI_Init blocks until all ranks have started. If this takes longer than
/// `start.options.loadTimeout` seconds, another thread of this process reports
/// an error and ends the process.
static Status startMpi(const RankStart &start, std::unique_ptr<World> &world) {
  const RankIdentity &identity = start.identity;
  const Watchdog watchdog(start.options.loadTimeout, [&] {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", start.options.loadTimeout);
    start.giveUp(Status::error(PeerLost, "rank " +
                                             std::to_string(identity.rank) +
                                             " waited " + seconds +
                                             " s for all ranks to start MPI"),
                 {});
  });
  const auto starting = start.recorder->beginAction(kStartAction);
  Status status = openMpiWorld(identity.worldSize, world, start.recorder);
  start.recorder->end(starting);
  if (status.ok() && world->rank() != identity.rank)
    status = Status::error(WrongWorld, "the launcher's variables say rank " +
                                           std::to_string(identity.rank) +
                                           ", MPI says rank " +
                                           std::to_string(world->rank()));
  return status;
}

Status openTarget(const RankStart &start, RankBackend &place) {
  const int worldSize = start.identity.worldSize;
  if (worldSize == 1)
    place.world = createOnlyWorld(start.recorder);
  else
    PCC_RETURN_IF_ERROR(startMpi(start, place.world));
  place.device = createCpuDevice(threadsPerRank(start.options, worldSize));
  return Status::success();
}

} // namespace pcc::runtime
