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
  /// Reports an error of the rank of `world`. Thread-safe. Ignores later
  /// errors, because they are consequences of the first one.
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

/// Returns the flight recorder of every rank.
static std::vector<FlightLog>
logsOf(const std::vector<std::unique_ptr<World>> &worlds) {
  std::vector<FlightLog> logs;
  for (const auto &world : worlds)
    logs.push_back(world->recorder().log());
  return logs;
}

/// Aborts the ranks that already run if a thread cannot be created. Reads the
/// flight recorders after all threads have ended.
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
