//===- ThreadWorld.cpp - worlds of ranks as threads of one process --------===//

#include "runtime/comm/thread/ThreadWorld.h"

#include "runtime/comm/GroupList.h"
#include "runtime/comm/thread/ThreadGroup.h"

#include <numeric>

namespace pcc::runtime {

namespace {

/// The World of one rank. The group objects of different ranks find their
/// shared state by number: every rank numbers its groups in the order of their
/// creation.
class ThreadWorld final : public World {
public:
  ThreadWorld(std::shared_ptr<ThreadJob> sharedJob, int ownRank,
              std::shared_ptr<FlightRecorder> ownRecorder)
      : job(std::move(sharedJob)), self(ownRank),
        flight(std::move(ownRecorder)),
        deadlineSeconds(std::make_shared<std::atomic<double>>(600.0)) {
    std::vector<int> ranks(job->size());
    std::iota(ranks.begin(), ranks.end(), 0);
    everybody = join(ranks);
  }

  int rank() const override { return self; }
  int size() const override { return job->size(); }
  Group &all() override { return *everybody; }
  FlightRecorder &recorder() override { return *flight; }
  void setDeadline(double seconds) override {
    deadlineSeconds->store(std::min(seconds, kLongestDeadline));
  }
  double deadline() const override { return *deadlineSeconds; }
  void abort(const Status &reason) override { job->abort(reason); }

  Status createGroups(const std::vector<std::vector<int>> &groups,
                      std::vector<std::unique_ptr<Group>> &created) override {
    created.clear();
    for (const std::vector<int> &members : groups) {
      PCC_RETURN_IF_ERROR(checkMembers(members, size()));
      created.push_back(join(members));
      if (disagreed)
        return Status::error(DamagedBundle, "rank " + std::to_string(self) +
                                                " lists other groups than "
                                                "other ranks");
    }
    return Status::success();
  }

private:
  /// Creates this rank's view of the next group; returns null if this rank is
  /// no member. Sets `disagreed` if another rank created that group with other
  /// members.
  std::unique_ptr<Group> join(const std::vector<int> &members) {
    std::shared_ptr<GroupState> groupState =
        job->groupState(numGroupStates++, members);
    disagreed |= !groupState;
    const int index = indexAmong(members, self);
    if (!groupState || index < 0)
      return nullptr;
    return std::make_unique<ThreadGroup>(job, std::move(groupState), index,
                                         deadlineSeconds, flight);
  }

  const std::shared_ptr<ThreadJob> job;
  const int self;
  const std::shared_ptr<FlightRecorder> flight;
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  std::unique_ptr<Group> everybody;
  size_t numGroupStates = 0; ///< groups counted so far, this rank's or not
  bool disagreed = false;
};

} // namespace

std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder) {
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
