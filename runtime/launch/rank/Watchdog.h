//===- Watchdog.h - deadline for calls without a timeout ------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
#define PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pcc::runtime {

/// A deadline for a scope that contains blocking calls without a timeout. Calls
/// `onTimeout`, on a thread of this object, if the object lives longer than
/// `seconds`. The destructor waits for a running `onTimeout`.
class Watchdog {
public:
  /// Starts the deadline.
  Watchdog(double seconds, std::function<void()> onTimeout)
      : thread([this, seconds, onTimeout = std::move(onTimeout)] {
          std::unique_lock lock(mutex);
          if (!ended.wait_for(lock, std::chrono::duration<double>(seconds),
                              [this] { return isOver; }))
            onTimeout();
        }) {}
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Cancels the deadline, and joins the thread.
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex);
      isOver = true;
    }
    ended.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  /// Whether the scope has ended. Guarded by `mutex`.
  bool isOver = false;
  /// Declared last: the thread uses the other members.
  std::thread thread;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
