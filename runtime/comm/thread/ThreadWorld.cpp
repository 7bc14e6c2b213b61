//===- ThreadWorld.cpp - worlds of ranks as threads of one process --------===//

#include "runtime/comm/thread/ThreadWorld.h"

#include "runtime/comm/HostWorld.h"
#include "runtime/comm/thread/ThreadGroup.h"

#include <cassert>

namespace pcc::runtime {

namespace {

/// Communicator of one rank, for ranks that are threads of one process.
///
/// The members of a group share one GroupState object, which contains the
/// mailboxes for their messages. Every rank creates the same groups in the same
/// order, and numbers the groups in this order from 0. A rank also counts a
/// group in which the rank is not a member. A group therefore has the same
/// number on all ranks, and all members use this number to find the shared
/// object.
class ThreadWorld final : public HostWorld {
public:
  ThreadWorld(std::shared_ptr<ThreadJob> sharedJob, int ownRank,
              std::shared_ptr<FlightRecorder> ownRecorder)
      : HostWorld(std::move(ownRecorder)), job(std::move(sharedJob)),
        self(ownRank),
        shared(std::make_shared<ThreadRank>(job, deadlineSeconds, flight)) {
    joinAll();
  }

  int rank() const override { return self; }
  int size() const override { return job->size(); }
  void abort(const Status &reason) override { job->abort(reason); }

private:
  /// Creates an object through which this rank communicates with the other
  /// ranks of one group. Stores the object in `group`. `members` lists the
  /// ranks of the group. If this rank is not in the list, `group` stays
  /// unchanged.
  ///
  /// Every rank must call this function for all groups, also for groups without
  /// this rank. The order of the calls must be equal on all ranks. For example,
  /// the third call on rank 0 and the third call on rank 1 must pass equal
  /// lists. If the two lists differ, the later of the two calls returns an
  /// error. After this error, all later calls on the same rank return an error
  /// too.
  Status join(const std::vector<int> &members,
              std::unique_ptr<Group> &group) override {
    std::shared_ptr<GroupState> groupState =
        job->groupState(numGroupStates++, members);
    disagreed |= !groupState;
    if (disagreed)
      return Status::error(DamagedBundle, "rank " + std::to_string(self) +
                                              " lists other groups than "
                                              "other ranks");
    if (const int index = indexAmong(members, self); index >= 0)
      group =
          std::make_unique<ThreadGroup>(shared, std::move(groupState), index);
    return Status::success();
  }

  const std::shared_ptr<ThreadJob> job;
  const int self;
  const std::shared_ptr<ThreadRank> shared; ///< by all groups of this rank
  size_t numGroupStates = 0; ///< groups counted so far, this rank's or not
  bool disagreed = false;
};

} // namespace

std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder) {
  assert(recorder && "no recorder");
  return std::make_unique<ThreadWorld>(std::make_shared<ThreadJob>(1), 0,
                                       std::move(recorder));
}

std::vector<std::unique_ptr<World>> createThreadWorlds(int size) {
  auto job = std::make_shared<ThreadJob>(size);
  std::vector<std::unique_ptr<World>> worlds;
  for (int rank = 0; rank < size; ++rank)
    worlds.push_back(std::make_unique<ThreadWorld>(
        job, rank, std::make_shared<FlightRecorder>(rank)));
  return worlds;
}

} // namespace pcc::runtime
