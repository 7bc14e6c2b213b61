//===- ThreadHub.h - what the ranks of one process share ------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADHUB_H
#define PCC_RUNTIME_COMM_THREAD_THREADHUB_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/thread/Parker.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

class Meeting;

class ThreadHub {
public:
  explicit ThreadHub(int size);
  ~ThreadHub();

  int size() const { return numRanks; }
  bool crowded() const { return moreRanksThanCores; }
  Parker &parker(int rank) { return parkers[rank]; }

  /// The first reason counts; wakes everybody.
  void abort(const Status &reason);
  bool aborted() const { return over.load(std::memory_order_acquire); }
  /// The reason; success while the run goes on.
  Status abortReason() const;

  /// Meeting number `number` of the run; whoever asks first makes it. Null if
  /// somebody made it of other members.
  std::shared_ptr<Meeting> meeting(size_t number,
                                   const std::vector<int> &members);

private:
  const int numRanks;
  const bool moreRanksThanCores;
  const std::unique_ptr<Parker[]> parkers;
  std::atomic<bool> over{false};
  mutable std::mutex mutex; ///< of everything below
  Status reasonOfAbort;
  std::vector<std::shared_ptr<Meeting>> meetings;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADHUB_H
