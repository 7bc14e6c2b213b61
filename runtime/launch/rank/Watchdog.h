//===- Watchdog.h - a deadline for calls that know none -------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
#define PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pcc::runtime {

/// Calls `onTimeout` on a thread of its own if this lives longer than
/// `seconds`.
class Watchdog {
public:
  Watchdog(double seconds, std::function<void()> onTimeout)
      : thread([this, seconds, onTimeout = std::move(onTimeout)] {
          std::unique_lock lock(mutex);
          if (!ended.wait_for(lock, std::chrono::duration<double>(seconds),
                              [this] { return isOver; }))
            onTimeout();
        }) {}
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

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
  bool isOver = false;
  std::thread thread; ///< last: it uses the others
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_WATCHDOG_H
