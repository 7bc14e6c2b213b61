//===- MpiWorld.cpp - world of ranks as MPI processes ---------------------===//

#include "runtime/comm/mpi/MpiWorld.h"

#include "runtime/comm/HostWorld.h"
#include "runtime/comm/mpi/MpiGroup.h"
#include "status/Counted.h"

namespace pcc::runtime {

namespace {

/// World object of one rank, which creates groups of ranks that communicate by
/// MPI. Each group has its own MPI tag, so that messages of different groups do
/// not mix. The tag is the number of the group in order of creation, from 1.
/// The constructor creates the group of all ranks, which therefore has tag 1 on
/// every rank.
class MpiWorld final : public HostWorld {
public:
  MpiWorld(std::shared_ptr<MpiJob> startedJob,
           std::shared_ptr<FlightRecorder> ownRecorder)
      : HostWorld(std::move(ownRecorder)), job(std::move(startedJob)) {
    joinAll();
  }

  // Wait for all ranks in a barrier, then finalize MPI. The barrier has a
  // deadline, and fails if a rank is missing. MPI_Finalize has no deadline, and
  // would wait forever for a missing rank. MPI is therefore not finalized if
  // the barrier fails.
  ~MpiWorld() override {
    if (everybody->barrier({"end", ""}).ok())
      job->finish();
  }

  int rank() const override { return job->rank(); }
  int size() const override { return job->size(); }
  void abort(const Status &reason) override { job->abort(reason); }

private:
  /// Creates this rank's Group object for one group of ranks. `members` lists
  /// the world ranks of the group. The MPI tag of the group's messages is
  /// `nextTag`, which then increases by 1. Every rank calls join() for the same
  /// groups in the same order, even for groups to which the rank does not
  /// belong. A group therefore has the same tag on all of its members. If this
  /// rank is not in the list, `group` stays unchanged.
  Status join(const std::vector<int> &members,
              std::unique_ptr<Group> &group) override {
    const int tag = nextTag++;
    if (indexAmong(members, job->rank()) >= 0)
      group = std::make_unique<MpiGroup>(job, members, tag, deadlineSeconds,
                                         flight);
    return Status::success();
  }

  const std::shared_ptr<MpiJob> job;
  int nextTag = MpiJob::kAbortTag + 1;
};

} // namespace

Status openMpiWorld(int launchedSize, std::unique_ptr<World> &world,
                    std::shared_ptr<FlightRecorder> recorder) {
  auto job = std::make_shared<MpiJob>();
  PCC_RETURN_IF_ERROR(job->start());
  if (job->size() != launchedSize)
    return Status::error(
        WrongWorld,
        "the launcher's variables say " + counted(launchedSize, "rank") +
            ", MPI says " + std::to_string(job->size()),
        {"start the bundle with Open MPI 4.1's mpirun, or with pcc run"});
  if (!recorder)
    recorder = std::make_shared<FlightRecorder>(job->rank());
  world = std::make_unique<MpiWorld>(std::move(job), std::move(recorder));
  return Status::success();
}

} // namespace pcc::runtime
