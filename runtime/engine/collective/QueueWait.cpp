//===- QueueWait.cpp - wait for the completion of a device's queue --------===//

#include "runtime/engine/collective/QueueWait.h"
#include "runtime/base/StopWatch.h"
#include "runtime/comm/QueuedWorld.h"

#include <chrono>
#include <thread>
#include <utility>

namespace pcc::runtime {

/// Pauses between two polls of the device, `waited` seconds after the start of
/// the wait:
///
/// - up to 20 us: no pause, so that short waits end promptly
/// - up to 1 ms: the thread yields
/// - after 1 ms: the thread sleeps, so that other threads can use the core
static void pause(double waited) {
  if (waited > 1e-3)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  else if (waited > 2e-5)
    std::this_thread::yield();
}

/// Blocks until the device has completed all enqueued work. Returns an error if
/// the device or another rank fails.
///
/// The wait has a time limit of World::deadline() seconds. The time begins at
/// the call of this function. The time begins again each time a communication
/// call (such as an all-reduce) of this rank completes. For example, the limit
/// is 60 seconds, and the wait takes 100 seconds. If one communication call
/// completes in each second, the function returns no error. If no communication
/// call completes in the first 60 seconds, the function returns an error. A
/// single rank waits without a time limit.
Status waitForQueue(Device &device, World &world) {
  const StopWatch watch;
  QueuedWorld *const calls = world.queued();
  uint64_t progress = calls ? calls->progress() : 0;
  double heard = 0;
  for (bool isDone = false;;) {
    PCC_RETURN_IF_ERROR(device.poll(isDone));
    // The device also becomes idle when a communication call (such as an
    // all-reduce) fails and is aborted. `isDone` is then true, although the
    // call has failed. Therefore look for errors first, and then test `isDone`.
    if (calls)
      PCC_RETURN_IF_ERROR(calls->poll());
    if (isDone)
      return Status::success();
    const double now = watch.seconds();
    if (calls && std::exchange(progress, calls->progress()) != progress)
      heard = now;
    if (calls && world.size() > 1 && now - heard > world.deadline())
      return calls->missed(now - heard);
    pause(now);
  }
}

} // namespace pcc::runtime
