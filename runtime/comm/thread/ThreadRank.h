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

/// State that all groups of one rank share. A group is a fixed set of ranks
/// that communicate with each other. Each rank is a thread of one process. Only
/// the thread of this rank may call the functions of this class.
///
/// The function advance() transfers the messages of all groups of this rank. A
/// rank calls advance() again and again while the rank waits for a message, or
/// waits until other ranks begin a collective (such as an all-reduce). Without
/// these calls, ranks could wait for each other in a circle. For example:
///
///   rank 0 waits until rank 2 copies a message of rank 0
///   rank 2 waits until rank 3 begins an all-reduce with rank 2
///   rank 3 waits until rank 1 copies a message of rank 3
///   rank 1 waits until rank 0 begins an all-reduce with rank 1
///
/// The calls of advance() end this circle. Rank 2 copies the message of rank 0
/// while rank 2 waits for rank 3. Rank 0 then continues, and begins the
/// all-reduce with rank 1.
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
