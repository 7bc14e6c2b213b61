//===- CpuTarget.cpp - CPU ranks, connected by MPI ------------------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/mpi/MpiWorld.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/launch/rank/RankTarget.h"
#include "runtime/launch/rank/Watchdog.h"

#include <cstdio>

namespace pcc::runtime {

/// Initializes MPI, and checks that MPI and the launcher give this process the
/// same rank. MPI_Init blocks until all ranks have started. If MPI_Init takes
/// longer than `loadTimeout`, a Watchdog ends the process.
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
