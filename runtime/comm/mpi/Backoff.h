//===- Backoff.h - how often to look while a message is under way ---------===//

#ifndef PCC_RUNTIME_COMM_MPI_BACKOFF_H
#define PCC_RUNTIME_COMM_MPI_BACKOFF_H

#include <chrono>

namespace pcc::runtime {

/// MPI only moves data while it is called, so a waiter has to look again and
/// again. The pauses grow with the time waited, to a small part of it: a long
/// wait leaves the core to ranks that compute and ends at most an eighth late.
class Backoff {
public:
  explicit Backoff(bool moreRanksThanCores);

  /// Seconds since the wait began, as of the last look around.
  double waited() const { return secondsWaited; }
  /// True now and then: when it is worth asking for deadlines and aborts.
  bool timeToLookAround();
  void pause();

private:
  bool oversubscribed;
  int attempts = 0;
  double secondsWaited = 0;
  std::chrono::steady_clock::time_point start;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_BACKOFF_H
