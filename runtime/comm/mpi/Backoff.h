//===- Backoff.h - polling interval of MPI waits --------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_BACKOFF_H
#define PCC_RUNTIME_COMM_MPI_BACKOFF_H

#include <chrono>

namespace pcc::runtime {

/// Controls how often a waiting rank polls MPI, which makes progress only
/// inside its calls. Each wait needs its own object:
///
///   poll → timeToLookAround()? check deadline and aborts → pause() → poll → …
///
/// A pause lasts an eighth of the time waited so far, at most 0.5 ms. There is
/// no pause in the first 0.2 ms.
class Backoff {
public:
  /// Creates the object at the beginning of a wait. `moreRanksThanCores`:
  /// whether several ranks share a core.
  explicit Backoff(bool moreRanksThanCores);

  /// Returns the duration of the wait in seconds, up to the latest reading of
  /// the clock. timeToLookAround() reads the clock whenever it returns true.
  /// Before the first reading, the result is 0.
  double waited() const { return secondsWaited; }
  /// Returns whether the caller should check its deadline and look for aborts.
  /// True for one of 16 calls in the first millisecond of a wait, then for
  /// every call.
  bool timeToLookAround();
  /// Pauses before the next poll of MPI. In the first 0.2 ms of a wait, does
  /// not pause, but yields the core if several ranks share it.
  void pause();

private:
  bool oversubscribed;
  int attempts = 0;         ///< calls of timeToLookAround()
  double secondsWaited = 0; ///< result of waited()
  std::chrono::steady_clock::time_point start;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_BACKOFF_H
