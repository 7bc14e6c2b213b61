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

/// Object on which the thread of one rank sleeps (a Linux futex). Another
/// thread calls wake() after it has changed an awaited condition. To miss no
/// wake(), the rank's thread takes these steps:
///
///   ticket() → check the condition → sleep(ticket)
///
/// If wake() is called after ticket(), sleep() returns at once.
class alignas(64) Sleeper {
public:
  /// Returns the number of calls of wake() so far. A thread that waits for a
  /// condition takes three steps. First it calls ticket(). Then it checks the
  /// condition. If the condition is false, the thread passes the result of
  /// ticket() to sleep(). If another thread has called wake() after ticket(),
  /// sleep() returns at once.
  uint32_t ticket() const { return word.load(std::memory_order_seq_cst); }

  /// Blocks until wake() or `deadline`; may also return early. `seen` is the
  /// result of an earlier ticket(). If another thread has called wake() after
  /// that ticket(), sleep() returns at once.
  void sleep(uint32_t seen, Clock::time_point deadline);

  /// Wakes the thread that is in sleep(), if there is one. May be called from
  /// any thread.
  void wake();

private:
  std::atomic<uint32_t> word{0};     ///< number of wakes; the futex word
  std::atomic<uint32_t> sleepers{0}; ///< number of threads in sleep()
};

/// Decides when a waiting thread stops polling and sleeps. It polls for 20 us;
/// if ranks share cores, it yields up to 100 times instead. Each wait needs its
/// own object.
class SpinPolicy {
public:
  /// Starts a wait. `moreRanksThanCores`: whether several ranks share a core.
  explicit SpinPolicy(bool moreRanksThanCores)
      : oversubscribed(moreRanksThanCores) {}

  /// Pauses briefly, and returns true if the caller should poll again, false if
  /// it should sleep.
  bool spin();

private:
  bool oversubscribed;
  int attempts = 0;             ///< calls of spin()
  Clock::time_point start = {}; ///< time of the first call
};

/// Calls `ready` repeatedly until it returns true, and sleeps between the
/// calls. Returns false if `deadline` passes first. A thread that changes the
/// result of `ready` must call `sleeper.wake()`. `ready` may have effects, such
/// as copying a message.
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
