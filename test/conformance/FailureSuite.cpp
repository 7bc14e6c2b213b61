//===- FailureSuite.cpp - how a run ends when a rank does not come --------===//

#include "test/conformance/Backend.h"

#include <chrono>
#include <thread>

namespace pcc::runtime {

static const ActionId kAction{"0F3", "h"};

/// All ranks but 2 make the call, which must fail with the reason.
static void expectMissingRankTwo(
    World &world,
    const std::function<Status(Group &, const ActionId &)> &call) {
  world.setDeadline(0.5);
  if (world.rank() == 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return;
  }
  const Status status = call(world.all(), kAction);
  EXPECT_EQ(status.code(), PeerLost);
  for (const char *part : {"waited 0.5 s", "rank 2 of {0,1,2,3}", "0F3", "h"})
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
}

TEST_P(CommunicatorFailure, DeadlineOfAllReduceNamesTheMissing) {
  onEveryRank([](World &world) {
    std::vector<float> values(100'000);
    expectMissingRankTwo(world, [&](Group &group, const ActionId &action) {
      return group.allReduce(values.data(), values.data(), values.size(),
                             ElementType::F32, dist::ReductionKind::Sum,
                             action);
    });
  });
}

TEST_P(CommunicatorFailure, DeadlineOfBarrierNamesTheMissing) {
  onEveryRank([](World &world) {
    expectMissingRankTwo(world, [](Group &group, const ActionId &action) {
      return group.barrier(action);
    });
  });
}

TEST_P(CommunicatorFailure, DeadlineOfExchangeNamesTheMissing) {
  onEveryRank([](World &world) {
    std::vector<char> buffer(1 << 20);
    expectMissingRankTwo(world, [&](Group &group, const ActionId &action) {
      const PeerBuffer receive{2, buffer.data(), buffer.size()};
      return group.exchange({}, {&receive, 1}, action);
    });
  });
}

// Other posts of rank 3 must not hide the message.
TEST_P(CommunicatorFailure, DeadlineOfPostNamesTheMissing) {
  onEveryRank([](World &world) {
    std::vector<char> buffer(1 << 20), other(1 << 20);
    expectMissingRankTwo(world, [&](Group &group, const ActionId &action) {
      const PeerBuffer receive{2, buffer.data(), buffer.size()};
      const PeerBuffer send{(world.rank() + 1) % 2, other.data(), other.size()};
      Ticket ticket, another;
      if (Status status = group.post({}, {&receive, 1}, action, ticket);
          status.failed())
        return status;
      if (world.rank() == 3)
        if (Status status = group.post({&send, 1}, {}, action, another);
            status.failed())
          return status;
      return group.wait({&ticket, 1}, action);
    });
  });
}

// The piece of rank 0 is gone when a late peer looks for it. A peer that is so
// late that it has not created the group yet must end as well.
TEST_P(CommunicatorFailure, APieceThatNobodyTakesEndsWithItsGroup) {
  onEveryRank([](World &world) {
    std::vector<char> memory(1 << 20);
    std::vector<std::unique_ptr<Group>> groups;
    Status status = world.createGroups({{0, 1, 2, 3}}, groups);
    const PeerBuffer piece{1, memory.data(), memory.size()};
    Ticket ticket = 0;
    if (world.rank() == 0) {
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(groups[0]->post({&piece, 1}, {}, kAction, ticket).ok());
      groups.clear();
      world.abort(
          Status::error(InputOutput, "the disk is full", {"free some"}));
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (status.ok())
      status = groups[0]->post({}, {}, kAction, ticket);
    if (status.ok())
      status = world.all().barrier(kAction);
    EXPECT_EQ(status.code(), InputOutput) << status.message();
  });
}

TEST_P(CommunicatorFailure, AbortWakesEveryWaiter) {
  onEveryRank([](World &world) {
    if (world.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      world.abort(
          Status::error(InputOutput, "the disk is full", {"free some"}));
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return;
    }
    const Status status = world.all().barrier(kAction);
    EXPECT_EQ(status.code(), InputOutput);
    EXPECT_EQ(status.message(), "the disk is full");
    EXPECT_EQ(status.notes(), std::vector<std::string>{"free some"});
    EXPECT_EQ(world.all().barrier(kAction).code(), InputOutput);
  });
}

// Rank 3 passes sizes that do not match: an error, on it or on a peer.
TEST_P(CommunicatorFailure, MismatchedSizesEndTheRun) {
  onEveryRank([](World &world) {
    world.setDeadline(5);
    std::vector<char> in(8), out(size_t{8} * kRanks);
    const size_t bytes = world.rank() == 3 ? 4 : 8;
    Status status =
        world.all().allGather(in.data(), out.data(), bytes, kAction);
    if (status.ok())
      status = world.all().barrier(kAction);
    EXPECT_EQ(status.code(), DamagedBundle) << status.message();
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommunicatorFailure);

} // namespace pcc::runtime
