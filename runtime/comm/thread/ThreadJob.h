//===- ThreadJob.h - shared state of a job whose ranks are threads --------===//

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

/// State that all ranks of a run share if the ranks are threads of one process.
/// Thread-safe. The state has three parts:
///
/// - One Sleeper for each rank. The thread of a rank sleeps on this object
///   while it waits for other ranks.
/// - One GroupState for each group of ranks. It contains, for example, the
///   memory through which members pass messages.
/// - The error by which a rank has ended the run with abort(), if there is one.
class ThreadJob {
public:
  /// Creates the state that the ranks of a run share. The run has `size` ranks,
  /// which are threads of this process.
  explicit ThreadJob(int size);
  ~ThreadJob();

  /// Returns the number of ranks.
  int size() const { return numRanks; }
  /// Returns whether there are more ranks than cores.
  bool oversubscribed() const { return moreRanksThanCores; }
  /// Returns the object on which the thread of rank `rank` sleeps while it
  /// waits for other ranks. Another thread calls wake() of this object to end
  /// the sleep.
  Sleeper &sleeper(int rank) { return sleepers[rank]; }

  /// Ends the run on all ranks with error `reason`, and wakes waiting ranks.
  /// Does nothing if the run has ended already.
  void abort(const Status &reason);
  /// Returns whether the run has been ended by abort().
  bool aborted() const { return over.load(std::memory_order_acquire); }
  /// Returns the error with which abort() has ended the run; success if abort()
  /// has not been called.
  Status abortReason() const;

  /// Returns the state that all members of one group share, such as the
  /// mailboxes for their messages. `members` are the world ranks of the group.
  /// Every rank creates the same groups in the same order. `number` is the
  /// index of the group in this order.
  ///
  /// The first call with a number creates the state. Later calls with this
  /// number, from other ranks, return the same state. A later call returns null
  /// if its `members` differ from the `members` of the first call.
  std::shared_ptr<GroupState> groupState(size_t number,
                                         const std::vector<int> &members);

private:
  const int numRanks;
  const bool moreRanksThanCores;
  const std::unique_ptr<Sleeper[]> sleepers;
  /// True after a call of abort(), which ends the run on all ranks. abort()
  /// first stores its error in `reasonOfAbort`, and then sets `over` to true.
  std::atomic<bool> over{false};
  /// Protects `reasonOfAbort` and `groupStates`. A thread must lock the mutex
  /// before it reads or writes one of these two variables.
  mutable std::mutex mutex;
  Status reasonOfAbort;
  /// `groupStates[i]` is the state that all members of group i share, such as
  /// the mailboxes for their messages. Every rank creates the same groups in
  /// the same order. Group i is the group with index i in this order.
  std::vector<std::shared_ptr<GroupState>> groupStates;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADJOB_H
