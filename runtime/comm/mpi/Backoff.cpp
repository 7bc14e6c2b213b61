//===- Backoff.cpp - polling interval of MPI waits ------------------------===//

#include "runtime/comm/mpi/Backoff.h"

#include <algorithm>
#include <sched.h>
#include <sys/prctl.h>
#include <thread>

namespace pcc::runtime {

/// Number of calls of timeToLookAround() per reading of the clock, during the
/// first millisecond of a wait. A waiting rank calls timeToLookAround() after
/// each poll of MPI. Calls 16, 32, 48 and so on read the clock. After the first
/// millisecond, every call reads the clock.
static constexpr int kAttemptsPerLook = 16;

Backoff::Backoff(bool moreRanksThanCores)
    : oversubscribed(moreRanksThanCores),
      start(std::chrono::steady_clock::now()) {}

bool Backoff::timeToLookAround() {
  constexpr double longWait = 1e-3;
  if (++attempts % kAttemptsPerLook != 0 && secondsWaited < longWait)
    return false;
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  secondsWaited = elapsed.count();
  return true;
}

void Backoff::pause() {
  constexpr double patience = 200e-6;
  constexpr double longestPause = 500e-6;
  if (secondsWaited < patience) {
    if (oversubscribed)
      sched_yield();
    return;
  }
  // The kernel may prolong a pause by the thread's timer slack: 50 us by
  // default. Reduce the slack to 1 us, once per thread.
  thread_local const int slackIsSet = prctl(PR_SET_TIMERSLACK, 1000UL);
  static_cast<void>(slackIsSet);
  std::this_thread::sleep_for(
      std::chrono::duration<double>(std::min(longestPause, secondsWaited / 8)));
}

} // namespace pcc::runtime
