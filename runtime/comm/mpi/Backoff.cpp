//===- Backoff.cpp - polling interval of MPI waits ------------------------===//

#include "runtime/comm/mpi/Backoff.h"

#include <algorithm>
#include <sched.h>
#include <sys/prctl.h>
#include <thread>

namespace pcc::runtime {

/// In the first millisecond of a wait, only each 16th call of the function
/// timeToLookAround() reads the clock: call 16, call 32, call 48 and so on. A
/// waiting rank calls the function after each poll of MPI. In the first
/// millisecond, the pauses between the polls are short, so 16 polls take little
/// time. After the first millisecond, every call reads the clock.
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
