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

/// Lets the thread of one rank sleep until another thread calls wake(). The
/// object counts the calls of wake(). For example, the rank's thread waits
/// until a variable x is 1. The thread repeats these steps:
///
/// 1. It reads the count by ticket().
/// 2. It checks x, and ends the wait if x is 1.
/// 3. It calls sleep() with the count of step 1.
///
/// Another thread sets x to 1, and then calls wake(). If it calls wake()
/// between step 1 and step 3, the count changes, and sleep() returns at once.
/// Without the count, the rank's thread would miss this wake(), and could sleep
/// forever.
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
  /// Creates the object for one wait. The constructor does not block.
  /// `moreRanksThanCores` must be true if there are more ranks than cores.
  explicit SpinPolicy(bool moreRanksThanCores)
      : oversubscribed(moreRanksThanCores) {}

  /// Must be called after the caller has checked the condition for which it
  /// waits, and has found it false. Returns true if the caller should check the
  /// condition again. In this case, spin() first pauses the thread for a short
  /// time, or lets other threads use the core. Returns false, without a pause,
  /// if the caller should sleep.
  bool spin();

private:
  bool oversubscribed;
  int attempts = 0;             ///< calls of spin()
  Clock::time_point start = {}; ///< time of the first call
};

/// Calls `ready` again and again until it returns true. Returns true in this
/// case, and false if `deadline` passes first. For a short time, the function
/// calls `ready` without sleeping. Then it sleeps on `sleeper` between two
/// calls. A thread that changes the result of `ready` must call
/// `sleeper.wake()`. `ready` may also do work, such as copying a message.
///
/// If `moreRanksThanCores` is true, the function calls sched_yield() between
/// two calls of `ready`, so that other threads can use the core.
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
