//===- MpiWorld.cpp - world of ranks as MPI processes ---------------------===//

#include "runtime/comm/mpi/MpiWorld.h"

#include "runtime/comm/GroupList.h"
#include "runtime/comm/mpi/MpiGroup.h"

#include <numeric>

namespace pcc::runtime {

namespace {

/// The World of one process. The group of all ranks is created first, and
/// therefore has the first tag on all ranks.
class MpiWorld final : public World {
public:
  MpiWorld(std::shared_ptr<MpiJob> startedJob,
           std::shared_ptr<FlightRecorder> ownRecorder)
      : job(std::move(startedJob)), flight(std::move(ownRecorder)),
        deadlineSeconds(std::make_shared<std::atomic<double>>(600.0)) {
    std::vector<int> ranks(job->size());
    std::iota(ranks.begin(), ranks.end(), 0);
    everybody = join(ranks);
  }

  // MPI_Finalize has no deadline. The barrier before it has one, and detects a
  // rank that does not arrive.
  ~MpiWorld() override {
    if (everybody->barrier({"end", ""}).ok())
      job->finish();
  }

  int rank() const override { return job->rank(); }
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
    }
    return Status::success();
  }

private:
  /// Creates this rank's view of the next group; returns null if this rank is
  /// no member. All ranks create the same groups in the same order, so a
  /// counter gives each group the same tag on all ranks.
  std::unique_ptr<Group> join(const std::vector<int> &members) {
    const int tag = nextTag++;
    if (indexAmong(members, job->rank()) < 0)
      return nullptr;
    return std::make_unique<MpiGroup>(job, members, tag, deadlineSeconds,
                                      flight);
  }

  const std::shared_ptr<MpiJob> job;
  const std::shared_ptr<FlightRecorder> flight;
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  int nextTag = MpiJob::kAbortTag + 1;
  std::unique_ptr<Group> everybody;
};

} // namespace

Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder) {
  auto job = std::make_shared<MpiJob>();
  PCC_RETURN_IF_ERROR(job->start());
  if (job->size() != launchedSize)
    return Status::error(
        WrongWorld,
        "the launcher's variables say " + std::to_string(launchedSize) +
            " ranks, MPI says " + std::to_string(job->size()),
        {"start the bundle with Open MPI 4.1's mpirun, or with pcc run"});
  if (!recorder)
    recorder = std::make_shared<FlightRecorder>(job->rank());
  world = std::make_unique<MpiWorld>(std::move(job), std::move(recorder));
  return Status::success();
}

} // namespace pcc::runtime
