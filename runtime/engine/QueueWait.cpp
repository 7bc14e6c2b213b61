//===- QueueWait.cpp - waits for what a device was given ------------------===//

#include "runtime/engine/QueueWait.h"
#include "runtime/engine/StopWatch.h"

#include <chrono>
#include <thread>

namespace pcc::runtime {

/// Short waits end at once, long ones cost no core.
static void pause(double waited) {
  if (waited > 1e-3)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  else if (waited > 2e-5)
    std::this_thread::yield();
}

Status waitForQueue(Device &device, World &world) {
  const StopWatch watch;
  for (bool isDone = false;;) {
    if (Status status = device.poll(isDone); status.failed())
      return status;
    // What looks done may have failed.
    if (Status status = world.poll(); status.failed() || isDone)
      return status;
    const double waited = watch.seconds();
    if (waited > world.deadline())
      return world.missed(waited);
    pause(waited);
  }
}

} // namespace pcc::runtime
