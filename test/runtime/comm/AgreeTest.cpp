//===- AgreeTest.cpp ------------------------------------------------------===//

#include "runtime/comm/Agree.h"
#include "runtime/comm/thread/ThreadWorld.h"

#include <gtest/gtest.h>

#include <thread>

using namespace pcc;
using namespace pcc::runtime;

/// Returns what agree() returns on each rank, given each rank's own result.
static std::vector<Status> agreed(const std::vector<Status> &mine) {
  const auto worlds = createThreadWorlds(int(mine.size()));
  std::vector<Status> results(mine.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < mine.size(); ++rank)
    threads.emplace_back([&, rank] {
      results[rank] = agree(*worlds[rank], mine[rank], {"test", "agree"});
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

TEST(Agree, SuccessOfAllRanksIsSuccess) {
  for (const Status &status : agreed({{}, {}, {}}))
    EXPECT_TRUE(status.ok());
}

TEST(Agree, AllRanksGetTheErrorOfTheLowestFailedRank) {
  const Status first =
      Status::error(InputOutput, "cannot write 'a'", {"disk full", ""});
  const Status second = Status::error(BadInput, "cannot read 'b'");
  for (const Status &status : agreed({{}, first, {}, second})) {
    EXPECT_EQ(status.code(), InputOutput);
    EXPECT_EQ(status.message(), "cannot write 'a'");
    EXPECT_EQ(status.notes(), (std::vector<std::string>{"disk full", ""}));
  }
}
