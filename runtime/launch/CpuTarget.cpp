//===- CpuTarget.cpp - ranks on processors, between them MPI --------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/mpi/MpiWorld.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/launch/RankTarget.h"
#include "runtime/launch/Report.h"
#include "runtime/launch/Watchdog.h"

#include <cstdio>

namespace pcc::runtime {

/// MPI itself waits for all ranks to start, however long that takes.
static Status startMpi(const RunOptions &options, const Identity &identity,
                       const std::shared_ptr<FlightRecorder> &recorder,
                       std::unique_ptr<World> &world) {
  const Watchdog watchdog(options.loadTimeout, [&] {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", options.loadTimeout);
    leave(reportFailure(
        Status::error(PeerLost, "rank " + std::to_string(identity.rank) +
                                    " waited " + seconds +
                                    " s for all ranks to start MPI"),
        currentEnvironment(), identity.rank, true));
  });
  const auto starting = recorder->beginAction("start");
  Status status = openMpiWorld(identity.worldSize, world, recorder);
  recorder->end(starting);
  if (status.ok() && world->rank() != identity.rank)
    status = Status::error(WrongWorld, "the launcher's variables say rank " +
                                           std::to_string(identity.rank) +
                                           ", MPI says rank " +
                                           std::to_string(world->rank()));
  return status;
}

Status openTarget(const RunOptions &options, const Identity &identity,
                  const std::string &,
                  const std::shared_ptr<FlightRecorder> &recorder,
                  std::unique_ptr<World> &world,
                  std::unique_ptr<Device> &device) {
  if (identity.worldSize == 1)
    world = createOnlyWorld(recorder);
  else if (Status status = startMpi(options, identity, recorder, world);
           status.failed())
    return status;
  device = createCpuDevice(threadsPerRank(options, identity.worldSize));
  return Status::success();
}

} // namespace pcc::runtime
