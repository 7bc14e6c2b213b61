//===- ThreadRank.h - state that all groups of one rank share -------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADRANK_H
#define PCC_RUNTIME_COMM_THREAD_THREADRANK_H

#include "runtime/comm/thread/ThreadJob.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// State that all groups of one rank share, if ranks are threads of one
/// process. Only the rank's thread may call.
///
/// A rank that waits in one group must go on with its messages in all groups.
/// Otherwise ranks wait for each other in a circle, as here with the groups
/// {0,1}, {2,3} of reductions and {0,2}, {1,3} of messages:
///
///   rank 0 sends to 2 and waits    rank 2 has posted, reduces with 3
///   rank 3 sends to 1 and waits    rank 1 has posted, reduces with 0
class ThreadRank {
public:
  /// `sharedJob` is the state of all ranks. `seconds` is the longest time of
  /// one wait of this rank. `ownRecorder` is the rank's flight recorder (log of
  /// its latest activities).
  ThreadRank(std::shared_ptr<ThreadJob> sharedJob,
             std::shared_ptr<std::atomic<double>> seconds,
             std::shared_ptr<FlightRecorder> ownRecorder)
      : job(std::move(sharedJob)), deadlineSeconds(std::move(seconds)),
        recorder(std::move(ownRecorder)) {}

  /// Adds a group of this rank. The group must call remove() before its end.
  void add(Group &group) { groups.push_back(&group); }
  /// Removes a group that was added by add().
  void remove(Group &group) { std::erase(groups, &group); }
  /// Advances the messages of all groups of this rank, without blocking.
  void advance() {
    for (Group *group : groups)
      group->advance();
  }

  const std::shared_ptr<ThreadJob> job;
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  const std::shared_ptr<FlightRecorder> recorder;

private:
  std::vector<Group *> groups; ///< in the order of their creation; borrowed
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADRANK_H
