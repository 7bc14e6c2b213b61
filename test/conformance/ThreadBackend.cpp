//===- ThreadBackend.cpp - the suites on ranks as threads -----------------===//

#include "test/conformance/Backend.h"

#include "runtime/comm/thread/ThreadWorld.h"

#include <thread>

namespace pcc::runtime {

namespace {

/// Creates new worlds for each body.
class ThreadBackend final : public Backend {
public:
  void run(const std::function<void(World &)> &body) override {
    const auto worlds = createThreadWorlds(kRanks);
    std::vector<std::thread> threads;
    for (const auto &world : worlds)
      threads.emplace_back([&] { body(*world); });
    for (std::thread &thread : threads)
      thread.join();
  }
};

} // namespace

static ThreadBackend backend;

INSTANTIATE_TEST_SUITE_P(Thread, Communicator, testing::Values(&backend));
INSTANTIATE_TEST_SUITE_P(Thread, CommunicatorFailure,
                         testing::Values(&backend));

} // namespace pcc::runtime
