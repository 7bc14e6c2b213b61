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

/// The deadline of a wait without deadline.
inline constexpr Clock::time_point kNever = Clock::time_point::max();

/// Event count on which the thread of one rank sleeps; built on a Linux futex.
/// A thread that changes a condition for which the rank may wait must call
/// wake() after the change. The waiting thread avoids lost wake-ups by this
/// order:
///
///   take ticket() → check the condition → sleep(ticket)
///
/// A wake() after ticket() makes sleep() return at once.
class alignas(64) Sleeper {
public:
  /// Returns a number that every wake() changes.
  uint32_t ticket() const { return word.load(std::memory_order_seq_cst); }

  /// Blocks until wake() has been called since ticket() returned `seen`, or
  /// until `deadline`. May also return early.
  void sleep(uint32_t seen, Clock::time_point deadline);

  /// Wakes the thread that sleeps, if one does. Callable from any thread.
  void wake();

private:
  std::atomic<uint32_t> word{0};     ///< number of wakes; the futex word
  std::atomic<uint32_t> sleepers{0}; ///< number of threads in sleep()
};

/// Decides how long a wait polls before it sleeps. One object serves one wait:
/// 20 us of spinning, or up to 100 yields if ranks share cores.
class SpinPolicy {
public:
  /// Starts a wait. `moreRanksThanCores`: whether ranks share cores.
  explicit SpinPolicy(bool moreRanksThanCores)
      : oversubscribed(moreRanksThanCores) {}

  /// Pauses for a moment before the next poll. Returns false if the wait should
  /// sleep instead.
  bool spin();

private:
  bool oversubscribed;
  int attempts = 0;             ///< calls of spin()
  Clock::time_point start = {}; ///< time of the first call
};

/// Blocks until `ready()` returns true; then returns true. Returns false if
/// `deadline` passes first. `ready` is called many times, and may do a part of
/// the work. A thread that changes what `ready` tests must then call
/// `sleeper.wake()`.
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
