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

// sleep() must not miss a call of wake(). `seen` is the number of wake() calls
// that the thread has read before it checked the awaited condition. `word` is
// the current number of wake() calls. sleep() first increments `sleepers`, and
// then compares `word` with `seen` in the system call futex. wake() first
// increments `word`, and then reads `sleepers`. Neither order may change.
// Either wake() finds that `sleepers` is greater than 0, and wakes the thread,
// or futex finds that `word` differs from `seen`, and returns at once.
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
