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

/// State that all groups of one rank share. Each rank is a thread of one
/// process. Only the thread of this rank may call the functions of this class.
///
/// While a rank waits for a message or a collective, it must call advance()
/// again and again, which transfers the messages of all its groups. Without
/// these calls, ranks could deadlock. For example, rank 0 waits until rank 1
/// copies a message of rank 0. Rank 1 waits until rank 0 begins an all-reduce.
class ThreadRank {
public:
  /// Stores the arguments:
  ///
  /// - `sharedJob`: state that all ranks of the run share.
  /// - `seconds`: longest time, in seconds, of one wait for other ranks.
  ///   World::setDeadline() can change the time later.
  /// - `ownRecorder`: flight recorder (log of this rank's latest activities).
  ThreadRank(std::shared_ptr<ThreadJob> sharedJob,
             std::shared_ptr<std::atomic<double>> seconds,
             std::shared_ptr<FlightRecorder> ownRecorder)
      : job(std::move(sharedJob)), deadlineSeconds(std::move(seconds)),
        recorder(std::move(ownRecorder)) {}

  /// Appends `group` to the list of this rank's groups. advance() transfers the
  /// messages of all groups in the list. The list stores only the address of
  /// the group. The group's destructor must therefore call remove().
  void add(Group &group) { groups.push_back(&group); }
  /// Removes `group` from the list of this rank's groups. advance() then no
  /// longer transfers the messages of the group.
  void remove(Group &group) { std::erase(groups, &group); }
  /// Transfers the data of messages in all groups of this rank, as far as
  /// possible without blocking. A message belongs to a group, and was begun by
  /// a call of Group::post().
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
