//===- GroupStateTest.cpp - barrier of a group of threads -----------------===//

#include "runtime/comm/thread/GroupState.h"
#include "runtime/comm/thread/ThreadJob.h"

#include <future>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;

namespace {
using Clock = std::chrono::steady_clock;

/// A group of three threads, of which each test is all members.
struct ThreeThreads {
  ThreadJob job{3};
  std::shared_ptr<GroupState> state = job.groupState(0, {0, 1, 2});

  /// Enters step 1 as member `index`.
  bool enter(
      int index, Clock::duration patience,
      const std::function<void()> &advance = [] {}) {
    return state->enter(index, 1, {}, Clock::now() + patience, advance);
  }
};
} // namespace

TEST(GroupState, AllMembersPassABarrier) {
  ThreeThreads group;
  std::vector<std::future<bool>> members;
  for (int i = 0; i < 3; ++i)
    members.push_back(std::async(std::launch::async, [&group, i] {
      return group.enter(i, std::chrono::seconds(60));
    }));
  for (auto &member : members)
    EXPECT_TRUE(member.get());
}

// Member 1 has arrived, but looks again only after member 0 has broken the
// barrier and member 2 has come too late. It must not count the late arrival.
TEST(GroupState, NobodyPassesABrokenBarrier) {
  ThreeThreads group;
  std::promise<void> arrived, late;
  std::shared_future<void> isLate = late.get_future().share();
  bool first = true;
  auto waiting = std::async(std::launch::async, [&] {
    return group.enter(1, std::chrono::seconds(60), [&] {
      if (std::exchange(first, false))
        arrived.set_value();
      isLate.wait();
    });
  });
  arrived.get_future().wait();
  EXPECT_FALSE(group.enter(0, std::chrono::milliseconds(0)));
  EXPECT_FALSE(group.enter(2, std::chrono::seconds(60)));
  late.set_value();
  EXPECT_FALSE(waiting.get());
}
