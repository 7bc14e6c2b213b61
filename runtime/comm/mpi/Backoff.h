//===- Backoff.h - polling interval of MPI waits --------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_BACKOFF_H
#define PCC_RUNTIME_COMM_MPI_BACKOFF_H

#include <chrono>

namespace pcc::runtime {

/// Controls how often a waiting rank polls. MPI makes progress only inside MPI
/// calls, so a waiting rank must poll. The pauses between polls grow in
/// proportion to the time waited, up to 0.5 ms. A long wait thus leaves the
/// core to ranks that compute. The end of a wait is detected with a delay of at
/// most an eighth of the wait's length. Each wait needs its own Backoff object:
///
///   poll → timeToLookAround()? check deadline and aborts → pause() → poll → …
class Backoff {
public:
  /// Starts the wait. `moreRanksThanCores` is true if several ranks share a
  /// core (MpiJob::oversubscribed()).
  explicit Backoff(bool moreRanksThanCores);

  /// Returns the length of the wait so far, in seconds, as of the last time
  /// that timeToLookAround() returned true. The clock is read only then.
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
