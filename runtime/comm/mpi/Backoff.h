//===- Backoff.h - polling interval of MPI waits --------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_BACKOFF_H
#define PCC_RUNTIME_COMM_MPI_BACKOFF_H

#include <chrono>

namespace pcc::runtime {

/// Controls how often a rank polls MPI while it waits for messages. MPI
/// transfers data of the messages during a poll. Each wait needs its own object
/// of this class, and repeats these steps:
///
/// 1. Poll MPI. Stop if the messages are complete.
/// 2. Call timeToLookAround(). If the result is true, check whether the wait
///    takes too long, and whether another rank has ended the run.
/// 3. Call pause(). Continue with step 1.
///
/// pause() returns at once during the first 0.2 ms of a wait. Later, a pause
/// lasts an eighth of the time since the begin of the wait, and at most 0.5 ms.
/// For example, 2 ms after the begin of the wait, a pause lasts 0.25 ms.
class Backoff {
public:
  /// Creates the object for one wait, and stores the current time as the begin
  /// of the wait. `moreRanksThanCores` is true if several ranks share a CPU
  /// core. pause() then lets another rank use the core.
  explicit Backoff(bool moreRanksThanCores);

  /// Returns the duration of the wait in seconds, up to the latest reading of
  /// the clock. timeToLookAround() reads the clock whenever it returns true.
  /// Before the first reading, the result is 0.
  double waited() const { return secondsWaited; }
  /// Returns whether the caller should now check two conditions: the wait takes
  /// too long, or another rank has ended the run. In the first millisecond of a
  /// wait, the pauses are short, and the result is true for only one of 16
  /// calls. Later, the result is true for every call.
  bool timeToLookAround();
  /// Blocks for a short time between two polls of MPI. The time depends on the
  /// result of waited(), the duration of the wait so far:
  ///
  /// - Less than 0.2 ms: the function returns at once. If several ranks share a
  ///   CPU core, the function first calls sched_yield(), so that another rank
  ///   can use the core.
  /// - At least 0.2 ms: the function sleeps for an eighth of the duration, but
  ///   for at most 0.5 ms. For example, it sleeps for 0.25 ms if the wait has
  ///   lasted 2 ms.
  void pause();

private:
  bool oversubscribed;
  int attempts = 0;         ///< calls of timeToLookAround()
  double secondsWaited = 0; ///< result of waited()
  std::chrono::steady_clock::time_point start;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_BACKOFF_H
