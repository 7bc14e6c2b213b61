//===- Backoff.h - polling interval of MPI waits --------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_BACKOFF_H
#define PCC_RUNTIME_COMM_MPI_BACKOFF_H

#include <chrono>

namespace pcc::runtime {

/// Controls how often a waiting rank polls. MPI makes progress only inside MPI
/// calls, so a waiting rank must poll. Each wait needs its own Backoff object:
///
///   poll → timeToLookAround()? check deadline and aborts → pause() → poll → …
///
/// After the first 0.2 ms of a wait, a pause lasts an eighth of the time waited
/// so far, at most 0.5 ms. The end of a wait is thus detected soon, and a long
/// wait leaves the core to ranks that compute.
class Backoff {
public:
  /// Starts the wait. `moreRanksThanCores` is true if several ranks share a
  /// core (MpiJob::oversubscribed()).
  explicit Backoff(bool moreRanksThanCores);

  /// Returns for how many seconds the wait had lasted when timeToLookAround()
  /// last returned true.
  double waited() const { return secondsWaited; }
  /// Returns whether the caller should check its deadline, and check whether
  /// another rank has ended the run. True for one of 16 calls in the first
  /// millisecond of a wait, and for all later calls. Only a call that returns
  /// true reads the clock.
  bool timeToLookAround();
  /// Pauses before the next poll. In the first 0.2 ms of a wait, returns at
  /// once, or only yields the core (sched_yield()) if ranks share cores.
  void pause();

private:
  bool oversubscribed;
  int attempts = 0;         ///< calls of timeToLookAround()
  double secondsWaited = 0; ///< result of waited()
  std::chrono::steady_clock::time_point start;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_BACKOFF_H
