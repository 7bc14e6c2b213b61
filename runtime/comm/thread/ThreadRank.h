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
/// A rank that waits in one group must also transfer its messages in all other
/// groups. Otherwise ranks could wait for each other in a circle:
///
///   rank 0 waits until rank 2 copies a message
///   rank 2 waits for rank 3 in a reduction
///   rank 3 waits until rank 1 copies a message
///   rank 1 waits for rank 0 in a reduction
class ThreadRank {
public:
  /// Stores the arguments. `sharedJob` is the state of all ranks, `seconds` the
  /// longest time that a call may block, and `ownRecorder` the log of this
  /// rank's latest activities.
  ThreadRank(std::shared_ptr<ThreadJob> sharedJob,
             std::shared_ptr<std::atomic<double>> seconds,
             std::shared_ptr<FlightRecorder> ownRecorder)
      : job(std::move(sharedJob)), deadlineSeconds(std::move(seconds)),
        recorder(std::move(ownRecorder)) {}

  /// Adds a group of this rank. The group's destructor must call remove().
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
