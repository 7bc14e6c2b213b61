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

  /// Blocks the calling thread until another thread calls wake(), or until the
  /// time `deadline`. If `deadline` is kNever, there is no time limit. sleep()
  /// may also return early, so the caller must check the awaited condition
  /// again.
  ///
  /// `seen` is the number of wake() calls that the caller has read by ticket(),
  /// before it checked the condition. If another thread has called wake() since
  /// then, the condition may have changed. sleep() then returns at once.
  void sleep(uint32_t seen, Clock::time_point deadline);

  /// Wakes the thread that is in sleep(), if there is one. May be called from
  /// any thread.
  void wake();

private:
  std::atomic<uint32_t> word{0};     ///< number of wakes; the futex word
  std::atomic<uint32_t> sleepers{0}; ///< number of threads in sleep()
};

/// Decides when a waiting thread goes to sleep. Before the thread sleeps, the
/// thread polls: it checks the awaited condition again and again, and calls
/// spin() after each check. There are two cases:
///
/// - Each rank has a core of its own. The thread polls for 20 us, and then
///   sleeps.
/// - There are more ranks than cores. spin() calls sched_yield(), so that other
///   threads can use the core. The thread sleeps after 100 calls of
///   sched_yield(), or earlier if one call takes more than 100 us.
///
/// Each wait needs a new SpinPolicy object.
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

/// Calls `ready` again and again until `ready` returns true. Returns true in
/// this case, and false if `deadline` passes first. For a short time, the
/// function calls `ready` without sleeping. After this time, the function
/// sleeps between two calls.
///
/// - `sleeper`: object on which the calling thread sleeps. Another thread that
///   changes the result of `ready` must call `sleeper.wake()`.
/// - `moreRanksThanCores`: whether there are more ranks than cores. If true,
///   the function calls sched_yield() between two calls of `ready`, so that
///   other threads can use the core.
/// - `deadline`: latest time of the wait; kNever for no limit.
/// - `ready`: function that checks the awaited condition. The function may also
///   do work, such as copying a message.
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
