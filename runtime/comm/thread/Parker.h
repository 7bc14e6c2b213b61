//===- Parker.h - where a rank's thread sleeps ----------------------------===//
//
// With more ranks than cores a spinning waiter costs a scheduler quantum and a
// yielding one burns the core that the others need; hence: a few yields, then
// sleep until woken.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_PARKER_H
#define PCC_RUNTIME_COMM_THREAD_PARKER_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pcc::runtime {

using Clock = std::chrono::steady_clock;

/// A time that never comes.
inline constexpr Clock::time_point kNever = Clock::time_point::max();

/// Everything that a rank may wait for wakes the rank's parker after it has
/// changed. A wake between ticket() and park() is not lost.
class alignas(64) Parker {
public:
  uint32_t ticket() const { return word.load(std::memory_order_seq_cst); }

  /// Sleeps until somebody wakes this parker after `seen` was taken, or until
  /// `deadline`; may return early.
  void park(uint32_t seen, Clock::time_point deadline);

  void wake();

private:
  std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> sleepers{0};
};

/// Counts out the quick attempts that precede the first sleep.
class Patience {
public:
  explicit Patience(bool moreRanksThanCores) : crowded(moreRanksThanCores) {}

  /// Lets others run for a moment. False when it is time to sleep.
  bool tryBriefly();

private:
  bool crowded;
  int attempts = 0;
  Clock::time_point start = {};
};

/// Calls `ready` until it holds (true) or `deadline` has passed (false).
template <typename Ready>
bool waitUntil(Parker &parker, bool moreRanksThanCores,
               Clock::time_point deadline, Ready ready) {
  Patience patience(moreRanksThanCores);
  for (;;) {
    const uint32_t seen = parker.ticket();
    if (ready())
      return true;
    if (patience.tryBriefly())
      continue;
    if (deadline != kNever && Clock::now() >= deadline)
      return false;
    parker.park(seen, deadline);
  }
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_PARKER_H
