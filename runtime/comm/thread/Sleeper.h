//===- Sleeper.h - where a rank's thread sleeps ---------------------------===//
//
// With more ranks than cores a spinning waiter costs a scheduler quantum and a
// yielding one burns the core that the others need; hence: a few yields, then
// sleep until woken.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_SLEEPER_H
#define PCC_RUNTIME_COMM_THREAD_SLEEPER_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pcc::runtime {

using Clock = std::chrono::steady_clock;

/// A time that never comes.
inline constexpr Clock::time_point kNever = Clock::time_point::max();

/// Everything that a rank may wait for wakes the rank's sleeper after it has
/// changed. A wake between ticket() and sleep() is not lost.
class alignas(64) Sleeper {
public:
  uint32_t ticket() const { return word.load(std::memory_order_seq_cst); }

  /// Sleeps until somebody wakes this sleeper after `seen` was taken, or until
  /// `deadline`; may return early.
  void sleep(uint32_t seen, Clock::time_point deadline);

  void wake();

private:
  std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> sleepers{0};
};

/// Counts out the quick attempts that precede the first sleep.
class SpinPolicy {
public:
  explicit SpinPolicy(bool moreRanksThanCores)
      : oversubscribed(moreRanksThanCores) {}

  /// Lets others run for a moment. False when it is time to sleep.
  bool spin();

private:
  bool oversubscribed;
  int attempts = 0;
  Clock::time_point start = {};
};

/// Calls `ready` until it holds (true) or `deadline` has passed (false).
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
