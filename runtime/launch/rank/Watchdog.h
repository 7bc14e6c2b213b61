//===- Watchdog.h - deadline for calls without a timeout ------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
#define PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pcc::runtime {

/// A deadline for a scope that contains blocking calls. If the object exists
/// for longer than `seconds`, a thread of the object calls `onTimeout`. The
/// destructor waits for a running `onTimeout`.
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

  /// Cancels the deadline. `onTimeout` is the function that a thread of this
  /// object calls at the deadline. If the thread is executing `onTimeout`,
  /// waits until `onTimeout` returns. After the destructor has returned,
  /// `onTimeout` is not called.
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
  /// Whether the destructor has been called. Guarded by `mutex`.
  bool isOver = false;
  /// Thread that calls `onTimeout` after `seconds` (argument of the
  /// constructor), unless the destructor is called before. Declared last,
  /// because it uses the other members.
  std::thread thread;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
