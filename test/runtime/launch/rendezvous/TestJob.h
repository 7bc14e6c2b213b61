//===- TestJob.h - a job whose ranks are threads of a test ----------------===//

#ifndef PCC_TEST_RUNTIME_LAUNCH_RENDEZVOUS_TESTJOB_H
#define PCC_TEST_RUNTIME_LAUNCH_RENDEZVOUS_TESTJOB_H

#include "runtime/launch/rendezvous/SocketRendezvous.h"

#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pcc::runtime {

/// Ranks that meet at a name that no other job uses.
class TestJob {
public:
  explicit TestJob(int worldSize) : worldSize(worldSize) {
    static int number = 0;
    address = {Address::Kind::Name, "pcc-test-" + std::to_string(getpid()) +
                                        "-" + std::to_string(++number)};
  }

  JoinTerms terms(int rank) const {
    return {address, token, RankFacts::of(rank, worldSize, "a bundle")};
  }

  /// Joins a rank; `life` then decides what it does. The error of `life` is
  /// that of the rank.
  using Life = std::function<Status(SocketRendezvous &)>;
  void start(const JoinTerms &as, Life life = finish) {
    Status &result = results.emplace_back();
    threads.emplace_back([this, &result, as, life = std::move(life)] {
      std::shared_ptr<SocketRendezvous> lifeline;
      result = SocketRendezvous::join(
          as, patience, [this](const Status &, auto) { ++numGivenUp; },
          lifeline);
      if (result.ok())
        result = life(*lifeline);
    });
  }
  void start(int rank, Life life = finish) {
    start(terms(rank), std::move(life));
  }

  void wait() {
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
  }

  static Status finish(SocketRendezvous &lifeline) { return lifeline.leave(); }

  /// Waits for the end of the run, as a rank that continues until then. Returns
  /// its result.
  static Status watch(SocketRendezvous &lifeline) {
    for (int i = 0; i < 20000; ++i) {
      PCC_RETURN_IF_ERROR(lifeline.poll());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Status::error(ValuesDiffer, "the run has not ended");
  }

  void expectAll(ExitCode code, const std::string &text) const {
    for (const Status &status : results) {
      EXPECT_EQ(status.code(), code) << status.message();
      EXPECT_NE(status.message().find(text), std::string::npos)
          << status.message();
    }
  }

  const int worldSize;
  Address address;
  JobToken token = {};
  double patience = 30;       ///< seconds for all to come
  std::deque<Status> results; ///< in the order of starts
  std::atomic<int> numGivenUp{0};

private:
  std::vector<std::thread> threads;
};

} // namespace pcc::runtime

#endif // PCC_TEST_RUNTIME_LAUNCH_RENDEZVOUS_TESTJOB_H
