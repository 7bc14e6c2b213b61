//===- RunThreadsTest.cpp - all ranks in this process ---------------------===//

#include "runtime/launch/thread/RunThreads.h"

#include <atomic>
#include <gtest/gtest.h>

namespace pcc::runtime {

TEST(RunThreads, EveryRankRunsOnce) {
  std::atomic<int> ranks{0};
  const Status status = runThreads(5, [&](World &world) {
    ranks += 1 << (4 * world.rank());
    return world.all().barrier({});
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(ranks.load(), 0x11111);
}

TEST(RunThreads, FirstErrorEndsAll) {
  const Status status = runThreads(4, [](World &world) {
    if (world.rank() == 2)
      return Status::error(BadInput, "input ids is missing");
    return world.all().barrier({"0F0", "x"});
  });
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input ids is missing");
}

} // namespace pcc::runtime
