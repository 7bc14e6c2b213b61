//===- MpiWorld.cpp - world of ranks as MPI processes ---------------------===//

#include "runtime/comm/mpi/MpiWorld.h"

#include "runtime/comm/HostWorld.h"
#include "runtime/comm/mpi/MpiGroup.h"

namespace pcc::runtime {

namespace {

/// The World (communicator) of one process. The group of all ranks is created
/// first, so it has the first message tag on all ranks.
class MpiWorld final : public HostWorld {
public:
  MpiWorld(std::shared_ptr<MpiJob> startedJob,
           std::shared_ptr<FlightRecorder> ownRecorder)
      : HostWorld(std::move(ownRecorder)), job(std::move(startedJob)) {
    joinAll();
  }

  // A barrier precedes MPI_Finalize, because it has a deadline and can detect a
  // missing rank. MPI_Finalize would wait forever.
  ~MpiWorld() override {
    if (everybody->barrier({"end", ""}).ok())
      job->finish();
  }

  int rank() const override { return job->rank(); }
  int size() const override { return job->size(); }
  void abort(const Status &reason) override { job->abort(reason); }

private:
  /// Creates this rank's view of a group with the next message tag. Every rank
  /// creates the same groups in the same order, so tags agree.
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
        "the launcher's variables say " + std::to_string(launchedSize) +
            " ranks, MPI says " + std::to_string(job->size()),
        {"start the bundle with Open MPI 4.1's mpirun, or with pcc run"});
  if (!recorder)
    recorder = std::make_shared<FlightRecorder>(job->rank());
  world = std::make_unique<MpiWorld>(std::move(job), std::move(recorder));
  return Status::success();
}

} // namespace pcc::runtime
