//===- Sleeper.h - blocking waits of a rank's thread ----------------------===//
//
// A wait first spins for a short time and then sleeps until it is woken. With
// more ranks than cores, a wait yields a few times instead of spinning, then
// sleeps: a spinning thread would hold its core for a whole scheduler quantum.
// A thread that only yields would take time from the ranks that compute.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_SLEEPER_H
#define PCC_RUNTIME_COMM_THREAD_SLEEPER_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pcc::runtime {

using Clock = std::chrono::steady_clock;

/// Value of a deadline that never passes.
inline constexpr Clock::time_point kNever = Clock::time_point::max();

/// Event count (counter with sleep and wake-up) on which the thread of one rank
/// sleeps; built on a Linux futex. A thread that changes a condition for which
/// the rank may wait must call wake() after the change. The waiting thread must
/// take these steps in this order, so that it misses no wake():
///
///   ticket() → check the condition → sleep(ticket)
///
/// If wake() is called after ticket(), sleep() returns at once.
class alignas(64) Sleeper {
public:
  /// Returns the number of wake() calls so far, to be passed to sleep().
  uint32_t ticket() const { return word.load(std::memory_order_seq_cst); }

  /// Blocks until wake() is called, or until `deadline`. `seen` is the result
  /// of an earlier ticket() call. Returns at once if wake() has been called
  /// since that ticket() call. May also return early.
  void sleep(uint32_t seen, Clock::time_point deadline);

  /// Wakes the thread that is in sleep(), if there is one. May be called from
  /// any thread.
  void wake();

private:
  std::atomic<uint32_t> word{0};     ///< number of wakes; the futex word
  std::atomic<uint32_t> sleepers{0}; ///< number of threads in sleep()
};

/// Decides when a waiting thread stops polling and sleeps instead. The thread
/// first spins for 20 us or, if ranks share cores, yields the core up to 100
/// times. Each wait needs its own SpinPolicy object.
class SpinPolicy {
public:
  /// Starts a wait. `moreRanksThanCores` is true if several ranks share a core.
  explicit SpinPolicy(bool moreRanksThanCores)
      : oversubscribed(moreRanksThanCores) {}

  /// Returns true, after a short pause, if the caller should poll again.
  /// Returns false if the caller should sleep instead.
  bool spin();

private:
  bool oversubscribed;
  int attempts = 0;             ///< calls of spin()
  Clock::time_point start = {}; ///< time of the first call
};

/// Blocks until `ready()` returns true, and returns true. Returns false if
/// `deadline` passes first. `ready` is called many times, and may do a part of
/// the work at each call. A thread that changes the condition that `ready`
/// tests must call `sleeper.wake()` after the change.
template <typename Ready>
bool waitUntil(Sleeper &sleeper, bool moreRanksThanCores,
               Clock::time_point deadline, Ready ready) {
  SpinPolicy spinPolicy(moreRanksThanCores);
  for (;;) {
    const uint32_t seen = sleeper.ticket();
    if (ready())
      return true;
    if (spinPolicy.spin())
      continue;
    if (deadline != kNever && Clock::now() >= deadline)
      return false;
    sleeper.sleep(seen, deadline);
  }
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_SLEEPER_H
