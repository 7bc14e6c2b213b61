//===- MpiBackend.cpp - the suites on ranks as MPI processes --------------===//
//
// mpirun starts as many processes as the suites have ranks; each runs all
// cases. A case of CommunicatorFailure ends the run, so it is started alone.
// Its processes end without finalizing MPI, with exit code 14 if the case
// passes.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/Backend.h"

#include "runtime/comm/mpi/MpiWorld.h"

#include <cstdio>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

namespace {

class MpiBackend final : public Backend {
public:
  void run(const std::function<void(World &)> &body) override { body(*world); }
  std::unique_ptr<World> world;
};

} // namespace

static MpiBackend backend;

INSTANTIATE_TEST_SUITE_P(Mpi, Communicator, testing::Values(&backend));
INSTANTIATE_TEST_SUITE_P(Mpi, CommunicatorFailure, testing::Values(&backend));

/// Returns whether the run has ended: no rank answers any more.
static bool hasFailed(World &world) {
  return world.all().barrier({"end", ""}).failed();
}

/// Ends the process after its peers have seen all messages that they wait for.
[[noreturn]] static void leave(int exitCode) {
  std::fflush(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  _exit(exitCode);
}

} // namespace pcc::runtime

int main(int argc, char **argv) {
  using namespace pcc;
  using namespace pcc::runtime;
  testing::InitGoogleTest(&argc, argv);
  if (Status status = openMpiWorld(kRanks, backend.world); status.failed()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return status.code();
  }
  const int failures = RUN_ALL_TESTS();
  if (hasFailed(*backend.world))
    leave(failures ? 1 : PeerLost);
  backend.world.reset();
  return failures;
}
