//===- RunThreads.cpp - runs one thread per rank --------------------------===//

#include "runtime/launch/thread/RunThreads.h"

#include "runtime/base/Exhaustion.h"
#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/launch/report/FlightFile.h"

#include <mutex>
#include <system_error>
#include <thread>

namespace pcc::runtime {

namespace {

/// First error of any rank. Every rank is a thread. A thread calls tell() if
/// its rank fails. The first call of tell() stores the error, and ends the run
/// of all ranks with this error.
class FirstError {
public:
  /// Stores the error `status` of one rank, and ends all ranks with this error.
  /// `world` is the World object of the failed rank, through which the rank
  /// communicates with other ranks.
  ///
  /// Only the first call has an effect. Errors of later calls are ignored,
  /// because they are consequences of the first error. Several threads may call
  /// this function at the same time.
  void tell(World &world, const Status &status) {
    {
      std::lock_guard lock(mutex);
      if (first.failed())
        return;
      first = status;
      clues = {.waiter = world.rank(), .time = FlightRecorder::now()};
    }
    world.abort(status);
  }
  const Status &get() const { return first; }
  const LossClues &found() const { return clues; }

private:
  std::mutex mutex;
  Status first;
  LossClues clues;
};

} // namespace

/// Returns the flight recorders of all ranks. A flight recorder is a log of the
/// latest activities of one rank. Each entry of `worlds` belongs to one rank.
static std::vector<FlightLog>
logsOf(const std::vector<std::unique_ptr<World>> &worlds) {
  std::vector<FlightLog> logs;
  for (const auto &world : worlds)
    logs.push_back(world->recorder().log());
  return logs;
}

/// Creates one thread after another. If a thread cannot be created, ends the
/// ranks whose threads already run.
///
/// Each rank has a flight recorder, a log of the latest activities of the rank.
/// The function reads the flight recorders after all threads have ended,
/// because the threads no longer change them then.
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile) {
  const auto worlds = createThreadWorlds(worldSize);
  FirstError error;
  std::vector<std::thread> threads;
  auto runRank = [&](World &world) {
    if (Status status = rankMain(world); status.failed())
      error.tell(world, status);
  };
  for (const auto &world : worlds) {
    try {
      threads.emplace_back(runRank, std::ref(*world));
    } catch (const std::system_error &problem) {
      error.tell(*world, cannotStart("cannot start a thread for rank " +
                                         std::to_string(world->rank()),
                                     problem.code().value()));
      break;
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  Status status = error.get();
  if (status.code() == PeerLost) {
    const std::vector<FlightLog> flights = logsOf(worlds);
    status = explainLoss(status, flights, error.found());
    writeFlights(flights, flightFile, status);
  }
  return status;
}

} // namespace pcc::runtime
