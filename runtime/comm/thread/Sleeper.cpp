//===- Sleeper.cpp - blocking waits of a rank's thread, by futex ----------===//

#include "runtime/comm/thread/Sleeper.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pcc::runtime {

/// Converts a time of the steady clock to a timespec for futex(2).
static timespec toTimespec(Clock::time_point time) {
  const auto sinceBoot = time.time_since_epoch();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(sinceBoot);
  timespec result;
  result.tv_sec = seconds.count();
  result.tv_nsec =
      std::chrono::duration_cast<std::chrono::nanoseconds>(sinceBoot - seconds)
          .count();
  return result;
}

/// Calls the Linux system call futex on `word`. There are two operations:
///
/// - FUTEX_WAIT_BITSET: Blocks the calling thread until another thread wakes
///   it, or until the time `until`. Returns at once if `word` differs from
///   `value`. `until` is an absolute time of CLOCK_MONOTONIC; null means no
///   time limit.
/// - FUTEX_WAKE: Wakes at most `value` threads that block on `word`. `until` is
///   not used.
static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value,
                  const timespec *until) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, until,
                 nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Before a thread calls sleep(), the thread reads the number of wake() calls.
// If another thread calls wake() after this reading, sleep() must not miss the
// call of wake(). sleep() and wake() use three numbers:
//
// - `word`: number of wake() calls so far.
// - `seen`: value of `word` that the thread has read before it called sleep().
// - `sleepers`: number of threads in sleep().
//
// The two functions take these steps:
//
//   sleep()   1. increments `sleepers`   2. compares `word` with `seen`
//   wake()    1. increments `word`       2. reads `sleepers`
//
// Step 2 of sleep() is the Linux system call futex. If `word` differs from
// `seen`, futex returns at once. Otherwise futex lets the thread sleep. If
// step 2 of wake() finds that `sleepers` is greater than 0, wake() wakes all
// sleeping threads.
//
// There are two cases:
//
// - Step 2 of wake() is later than step 1 of sleep(). wake() then finds that
//   `sleepers` is greater than 0. If the thread already sleeps, wake() wakes
//   it. If the thread does not yet sleep, `word` already differs from `seen`,
//   and sleep() returns at once.
// - Step 2 of wake() is earlier than step 1 of sleep(). Step 1 of wake() is
//   then earlier than step 2 of sleep(). sleep() finds that `word` differs from
//   `seen`, and returns at once.
void Sleeper::sleep(uint32_t seen, Clock::time_point deadline) {
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (deadline == kNever) {
    futex(word, FUTEX_WAIT_BITSET, seen, nullptr);
  } else {
    const timespec until = toTimespec(deadline);
    futex(word, FUTEX_WAIT_BITSET, seen, &until);
  }
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void Sleeper::wake() {
  word.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

bool SpinPolicy::spin() {
  using std::chrono::microseconds;
  constexpr int maxYields = 100;
  const Clock::time_point now = Clock::now();
  if (attempts++ == 0)
    start = now;
  if (!oversubscribed && now - start < microseconds(20)) {
    __builtin_ia32_pause();
    return true;
  }
  if (!oversubscribed || attempts > maxYields)
    return false;
  sched_yield();
  // sched_yield() lets other threads run on this core. If the call took more
  // than 100 us, other threads have used the core, and probably still need it.
  // Setting `attempts` to the limit makes the next spin() return false. The
  // caller of spin() then sleeps, and leaves the core to the other threads.
  if (Clock::now() - now > microseconds(100))
    attempts = maxYields;
  return true;
}

} // namespace pcc::runtime
