//===- RankTeam.cpp - all ranks of a bundle as threads --------------------===//

#include "runtime/launch/thread/RankTeam.h"

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/report/FlightFile.h"
#include "runtime/launch/thread/LoadImages.h"
#include "runtime/launch/thread/RunThreads.h"
#include "runtime/program/bundle/BundleFields.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace pcc::runtime {

/// Starts the thread `keeper`, which starts the ranks' threads and waits for
/// them.
Status RankTeam::start(const std::string &bundle, RunOptions given) {
  PCC_RETURN_IF_ERROR(checkBundle(bundle));
  nlohmann::ordered_json description;
  PCC_RETURN_IF_ERROR(readBundleJson(bundle, description));
  const int worldSize = countRanks(bundle);
  options = std::move(given);
  options.bundle = bundle;
  options.localRanks = worldSize;
  options.sharesProcess = worldSize > 1;
  options.isGivenUp = [this] { return isGivenUp.load(); };
  PCC_RETURN_IF_ERROR(loadImages(bundle, worldSize, images));
  keeper = std::thread([this] {
    Status status = runThreads(
        size(), [&](World &world) { return serve(world); },
        flightFileOf(options));
    const std::lock_guard lock(mutex);
    isOver = true;
    result = std::move(status);
    changed.notify_all();
  });
  return Status::success();
}

void RankTeam::end() {
  {
    const std::lock_guard lock(mutex);
    isEnding = true;
    changed.notify_all();
  }
  if (keeper.joinable())
    keeper.join();
}

/// Opens the rank's device, then executes the tasks one after another. Each
/// task begins when all ranks have finished the previous task. A task that
/// fails ends this rank, and runThreads() then ends the other ranks.
Status RankTeam::serve(World &world) {
  {
    const std::lock_guard lock(mutex);
    worlds.push_back(&world);
  }
  const ProgramImage &image = *images[size_t(world.rank())];
  std::unique_ptr<Device> device;
  Status status = openDevice(image, world.rank(), device);
  if (status.failed())
    return leave(world, status);
  const auto rank = createRank(image, options, world, *device);
  for (uint64_t round = 0; awaitTask(round, status); ++round) {
    status = (*task)(*rank);
    if (status.failed())
      break;
    endTask();
  }
  return leave(world, std::move(status));
}

Status RankTeam::openDevice(const ProgramImage &image, int rank,
                            std::unique_ptr<Device> &device) const {
  CudaContext *gpu = nullptr;
  if (image.gpu && size() > 1)
    return Status::error(Unsupported, "ranks on GPUs are processes",
                         {"use --comm nccl"});
  if (image.gpu)
    return createCudaDevice(rank, options.bundle, device, gpu);
  device = createCpuDevice(threadsPerRank(options, size()));
  return Status::success();
}

Status RankTeam::leave(World &world, Status status) {
  const std::lock_guard lock(mutex);
  std::erase(worlds, &world);
  isEnding |= status.failed();
  changed.notify_all();
  return status;
}

/// Waits until task number `round` has started, and then returns true. If the
/// team ends, returns false.
///
/// Tasks are numbered from 0. The member `rounds` is the number of tasks that
/// have started. For example, tasks 0 and 1 have started if `rounds` is 2. Task
/// number `round` has therefore started if `rounds` is greater than `round`.
bool RankTeam::awaitTask(uint64_t round, Status &ended) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return isEnding || rounds > round; });
  if (isEnding)
    ended = aborted;
  return !isEnding;
}

void RankTeam::endTask() {
  const std::lock_guard lock(mutex);
  if (--numBusy == 0)
    changed.notify_all();
}

Status RankTeam::reason() const {
  if (aborted.failed())
    return aborted;
  return result.failed()
             ? result
             : Status::error(PeerLost, "the ranks have ended before this call");
}

/// Starts the task `next` on the threads of all ranks, and waits until all
/// ranks have finished the task or the team has ended. During the wait, the
/// function calls `onWait` every 100 ms. For example, `onWait` may check
/// whether the user has pressed Ctrl-C in Python.
Status RankTeam::call(const Task &next, const std::function<void()> &onWait) {
  std::unique_lock lock(mutex);
  if (isOver || isEnding)
    return reason();
  task = &next;
  numBusy = size();
  ++rounds;
  changed.notify_all();
  const auto isDone = [&] { return isOver || numBusy == 0; };
  while (!changed.wait_for(lock, std::chrono::milliseconds(100), isDone)) {
    lock.unlock();
    if (onWait)
      onWait();
    lock.lock();
  }
  return numBusy == 0 ? Status::success() : reason();
}

/// Executes `next` on every rank. Returns the error of the lowest rank on which
/// `next` fails. For example, `next` fails on ranks 1 and 3. The function then
/// returns the error of rank 1. If the team has already ended, the function
/// returns the error with which the team ended.
///
/// An error that a task returns to call() would end the team. The function
/// therefore passes another task to call(). This task executes `next`, stores
/// the error of `next` in the variable `error`, and returns success.
Status RankTeam::callApart(const Task &next) {
  std::mutex ofErrors;
  int first = size();
  Status error;
  Status status = call([&](Rank &rank) {
    Status mine = next(rank);
    const std::lock_guard lock(ofErrors);
    if (mine.failed() && rank.index() < first) {
      first = rank.index();
      error = std::move(mine);
    }
    return Status::success();
  });
  return status.failed() ? status : error;
}

void RankTeam::abort(const Status &why) {
  const std::lock_guard lock(mutex);
  if (aborted.ok())
    aborted = why;
  isEnding = true;
  isGivenUp = true;
  // Each rank has its own World object. One call of World::abort() ends the
  // waits of all ranks, so the call on the first object is enough.
  if (!worlds.empty())
    worlds.front()->abort(why);
  changed.notify_all();
}

} // namespace pcc::runtime
