//===- ThreadJob.h - what the ranks of one process share ------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADJOB_H
#define PCC_RUNTIME_COMM_THREAD_THREADJOB_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/thread/Sleeper.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

class GroupState;

class ThreadJob {
public:
  explicit ThreadJob(int size);
  ~ThreadJob();

  int size() const { return numRanks; }
  bool oversubscribed() const { return moreRanksThanCores; }
  Sleeper &sleeper(int rank) { return sleepers[rank]; }

  /// The first reason counts; wakes everybody.
  void abort(const Status &reason);
  bool aborted() const { return over.load(std::memory_order_acquire); }
  /// The reason; success while the run goes on.
  Status abortReason() const;

  /// GroupState number `number` of the run; whoever asks first makes it. Null if
  /// somebody made it of other members.
  std::shared_ptr<GroupState> groupState(size_t number,
                                         const std::vector<int> &members);

private:
  const int numRanks;
  const bool moreRanksThanCores;
  const std::unique_ptr<Sleeper[]> sleepers;
  std::atomic<bool> over{false};
  mutable std::mutex mutex; ///< of everything below
  Status reasonOfAbort;
  std::vector<std::shared_ptr<GroupState>> groupStates;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADJOB_H
