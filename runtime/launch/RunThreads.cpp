//===- RunThreads.cpp - all ranks in this process -------------------------===//

#include "runtime/launch/RunThreads.h"

#include "runtime/comm/thread/ThreadWorld.h"

#include <mutex>
#include <system_error>
#include <thread>

namespace pcc::runtime {

namespace {

/// The first error of a job, told to all of its ranks.
class FirstError {
public:
  void tell(World &world, const Status &status) {
    {
      std::lock_guard lock(mutex);
      if (first.failed())
        return;
      first = status;
    }
    world.abort(status.message(), status.code());
  }
  const Status &get() const { return first; }

private:
  std::mutex mutex;
  Status first;
};

} // namespace

Status runThreads(int worldSize,
                  const std::function<Status(World &)> &rankMain) {
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
      error.tell(*world,
                 Status::error(NoDevice, "cannot start a thread for rank " +
                                             std::to_string(world->rank()) +
                                             ": " + problem.code().message()));
      break;
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  return error.get();
}

} // namespace pcc::runtime
