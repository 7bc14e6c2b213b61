//===- QueueWait.cpp - waits for what a device was given ------------------===//

#include "runtime/engine/collective/QueueWait.h"
#include "runtime/base/StopWatch.h"

#include <chrono>
#include <thread>
#include <utility>

namespace pcc::runtime {

/// Short waits end at once, long ones cost no core.
static void pause(double waited) {
  if (waited > 1e-3)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  else if (waited > 2e-5)
    std::this_thread::yield();
}

/// The deadline is that of a wait for peers, however long a step is: who hears
/// of them goes on waiting, and who has none waits for ever.
Status waitForQueue(Device &device, World &world) {
  const StopWatch watch;
  uint64_t progress = world.progress();
  double heard = 0;
  for (bool isDone = false;;) {
    if (Status status = device.poll(isDone); status.failed())
      return status;
    // What looks done may have failed.
    if (Status status = world.poll(); status.failed() || isDone)
      return status;
    const double now = watch.seconds();
    if (std::exchange(progress, world.progress()) != progress)
      heard = now;
    if (world.size() > 1 && now - heard > world.deadline())
      return world.missed(now - heard);
    pause(now);
  }
}

} // namespace pcc::runtime
