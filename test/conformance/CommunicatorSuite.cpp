//===- CommunicatorSuite.cpp - what every communicator must do ------------===//

#include "test/conformance/Backend.h"

#include "runtime/tensor/ElementDispatch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace pcc::runtime {

static const ActionId kAction{"test", "x"};

static const ElementType kTypes[] = {
    ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16,
    ElementType::I8,  ElementType::I16, ElementType::I32, ElementType::I64,
    ElementType::U8,  ElementType::U16, ElementType::U32, ElementType::U64,
    ElementType::Bool};
static const dist::ReductionKind kReductions[] = {
    dist::ReductionKind::Sum, dist::ReductionKind::Max,
    dist::ReductionKind::Min, dist::ReductionKind::Prod};
/// Numbers of elements: zero, one, odd, slightly around and far above the size
/// at which algorithms change.
static const size_t kCounts[] = {0, 1, 3, 17, 1025, 8192, 65537};

/// Returns the value of rank `rank` at `index`: small integers, exact in every
/// type.
static int valueOf(int rank, size_t index, ElementType type) {
  return type == ElementType::Bool
             ? int((rank + index) % 3 == 0)
             : int((size_t(rank) * 5 + index * 3) % 3 + 1);
}

static int reduced(const std::vector<int> &ranks, size_t index,
                   ElementType type, dist::ReductionKind kind) {
  int result = valueOf(ranks[0], index, type);
  for (size_t i = 1; i < ranks.size(); ++i) {
    const int next = valueOf(ranks[i], index, type);
    switch (kind) {
    case dist::ReductionKind::Sum:
      result += next;
      break;
    case dist::ReductionKind::Prod:
      result *= next;
      break;
    case dist::ReductionKind::Max:
      result = std::max(result, next);
      break;
    case dist::ReductionKind::Min:
      result = std::min(result, next);
      break;
    case dist::ReductionKind::And:
      result = result != 0 && next != 0;
      break;
    case dist::ReductionKind::Or:
      result = result != 0 || next != 0;
      break;
    }
  }
  return type == ElementType::Bool ? result != 0 : result;
}

/// Returns a buffer of `type`. Calls `element` for every index to fill it.
static std::vector<char> makeBuffer(ElementType type, size_t count,
                                    const std::function<int(size_t)> &element) {
  std::vector<char> bytes(count * sizeOf(type));
  dispatch(type, [&](auto example) {
    using T = decltype(example);
    for (size_t i = 0; i < count; ++i) {
      const T value = static_cast<T>(static_cast<Computed<T>>(element(i)));
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

static void expectReduction(Group &group, const std::vector<int> &ranks,
                            int rank, ElementType type,
                            dist::ReductionKind kind, size_t count,
                            bool inPlace) {
  std::vector<char> in =
      makeBuffer(type, count, [&](size_t i) { return valueOf(rank, i, type); });
  const std::vector<char> expected = makeBuffer(
      type, count, [&](size_t i) { return reduced(ranks, i, type, kind); });
  std::vector<char> out(in.size());
  char *target = inPlace ? in.data() : out.data();
  const Status status =
      group.allReduce(in.data(), target, count, type, kind, kAction);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(in.empty() ||
              std::memcmp(target, expected.data(), in.size()) == 0)
      << nameOf(type) << " kind " << int(kind) << " count " << count
      << " in place " << inPlace;
}

TEST_P(Communicator, ReducesEveryTypeAndSize) {
  onEveryRank([&](World &world) {
    for (ElementType type : kTypes)
      for (dist::ReductionKind kind : kReductions)
        for (size_t count : kCounts)
          for (bool inPlace : {false, true})
            if (GetParam()->reduces(type))
              expectReduction(world.all(), {0, 1, 2, 3}, world.rank(), type,
                              kind, count, inPlace);
  });
}

TEST_P(Communicator, ReducesMoreThanOneBlock) {
  onEveryRank([](World &world) {
    expectReduction(world.all(), {0, 1, 2, 3}, world.rank(), ElementType::F64,
                    dist::ReductionKind::Sum, (size_t(5) << 20) + 3,
                    /*inPlace=*/true);
  });
}

// 2048 + 1 is not an f16, 2048 + 3 is: adding in f16 would give 2048.
TEST_P(Communicator, HalvesAccumulateInFloat) {
  onEveryRank([](World &world) {
    Float16 value(world.rank() == 0 ? 2048.0f : 1.0f);
    const Status status = world.all().allReduce(
        &value, &value, 1, ElementType::F16, dist::ReductionKind::Sum, kAction);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(static_cast<float>(value), 2052.0f); // 2051 to nearest even
  });
}

// Sums are computed in member order, to the bit: ((1e30 + -1e30) + 1) + 1.
TEST_P(Communicator, AddsInMemberOrder) {
  onEveryRank([](World &world) {
    const float parts[kRanks] = {1e30f, -1e30f, 1.0f, 1.0f};
    for (size_t count : {size_t(1), size_t(5000)}) {
      std::vector<float> values(count, parts[world.rank()]);
      const Status status = world.all().allReduce(
          values.data(), values.data(), count, ElementType::F32,
          dist::ReductionKind::Sum, kAction);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(values.front(), 2.0f);
      EXPECT_EQ(values.back(), 2.0f);
    }
  });
}

TEST_P(Communicator, NanWinsMaximum) {
  onEveryRank([](World &world) {
    for (int culprit = 0; culprit < kRanks; ++culprit) {
      double value = world.rank() == culprit
                         ? std::numeric_limits<double>::quiet_NaN()
                         : 1.0;
      const Status status =
          world.all().allReduce(&value, &value, 1, ElementType::F64,
                                dist::ReductionKind::Max, kAction);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(std::isnan(value));
    }
  });
}

static std::vector<char> bytesOf(int rank, size_t count) {
  std::vector<char> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = char(size_t(rank) * 37 + i * 11);
  return bytes;
}

TEST_P(Communicator, GathersInMemberOrder) {
  onEveryRank([](World &world) {
    for (size_t count : kCounts)
      for (bool inPlace : {false, true}) {
        std::vector<char> in = bytesOf(world.rank(), count);
        std::vector<char> out(count * kRanks);
        char *own = out.data() + world.rank() * count;
        if (inPlace && count > 0)
          std::memcpy(own, in.data(), count);
        const Status status = world.all().allGather(inPlace ? own : in.data(),
                                                    out.data(), count, kAction);
        ASSERT_TRUE(status.ok()) << status.message();
        std::vector<char> expected;
        for (int rank = 0; rank < kRanks; ++rank) {
          const std::vector<char> part = bytesOf(rank, count);
          expected.insert(expected.end(), part.begin(), part.end());
        }
        EXPECT_EQ(out, expected) << count;
      }
  });
}

TEST_P(Communicator, BroadcastsFromEveryRoot) {
  onEveryRank([](World &world) {
    for (int root = 0; root < kRanks; ++root)
      for (size_t count : kCounts) {
        std::vector<char> data = bytesOf(world.rank(), count);
        const Status status =
            world.all().broadcast(data.data(), count, root, kAction);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(data, bytesOf(root, count)) << root;
      }
  });
}

TEST_P(Communicator, PassesAroundARing) {
  onEveryRank([](World &world) {
    const int next = (world.rank() + 1) % kRanks;
    const int previous = (world.rank() + kRanks - 1) % kRanks;
    for (size_t count : {size_t(0), size_t(1), size_t(100'001)})
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<char> out = bytesOf(world.rank(), count);
        std::vector<char> in(count);
        const PeerBuffer send{next, out.data(), count};
        const PeerBuffer receive{previous, in.data(), count};
        const Status status =
            world.all().exchange({&send, 1}, {&receive, 1}, kAction);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(in, bytesOf(previous, count));
      }
  });
}

/// Returns the bytes that `from` sends to `to`: uneven sizes, some of them 0,
/// own pieces included.
static size_t unevenSize(int from, int to) {
  return (from == 1 && to == 3) ? 0 : size_t(from * 1000 + to * 7 + 1);
}

TEST_P(Communicator, ExchangesUnevenPiecesWithAll) {
  onEveryRank([](World &world) {
    const int self = world.rank();
    std::vector<std::vector<char>> out(kRanks), in(kRanks);
    std::vector<PeerBuffer> sends, receives;
    for (int peer = 0; peer < kRanks; ++peer) {
      out[peer] = bytesOf(self * kRanks + peer, unevenSize(self, peer));
      in[peer].resize(unevenSize(peer, self));
      sends.push_back({peer, out[peer].data(), out[peer].size()});
      receives.push_back({peer, in[peer].data(), in[peer].size()});
    }
    const Status status = world.all().exchange(sends, receives, kAction);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int peer = 0; peer < kRanks; ++peer)
      EXPECT_EQ(in[peer], bytesOf(peer * kRanks + self, in[peer].size()));
  });
}

TEST_P(Communicator, SeveralPiecesForAPeerKeepTheirOrder) {
  onEveryRank([](World &world) {
    const int next = (world.rank() + 1) % kRanks;
    const int last = (world.rank() + kRanks - 1) % kRanks;
    std::vector<std::vector<char>> out, in;
    for (size_t size : {size_t(5), size_t(100000), size_t(0), size_t(70000)}) {
      out.push_back(bytesOf(world.rank() * 10 + int(out.size()), size));
      in.emplace_back(size);
    }
    std::vector<PeerBuffer> sends, receives;
    for (size_t i = 0; i < out.size(); ++i) {
      sends.push_back({next, out[i].data(), out[i].size()});
      receives.push_back({last, in[i].data(), in[i].size()});
    }
    const Status status = world.all().exchange(sends, receives, kAction);
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(in[i], bytesOf(last * 10 + int(i), in[i].size()));
  });
}

// Rank 2 cannot receive from rank 0 before rank 1 has received everything from
// rank 0: a value that skips a stage, and several values for the next stage.
TEST_P(Communicator, APeerThatIsLateHoldsUpNoOther) {
  onEveryRank([](World &world) {
    constexpr size_t size = 300000;
    std::vector<std::vector<char>> out, in(4, std::vector<char>(size));
    for (int i = 0; i < 4; ++i)
      out.push_back(bytesOf(world.rank() * 10 + i, size));
    const auto exchange = [&](const std::vector<int> &to,
                              const std::vector<int> &from) {
      std::vector<PeerBuffer> sends, receives;
      for (int peer : to)
        sends.push_back({peer, out[sends.size()].data(), size});
      for (int peer : from)
        receives.push_back({peer, in[receives.size()].data(), size});
      const Status status = world.all().exchange(sends, receives, kAction);
      EXPECT_TRUE(status.ok()) << status.message();
    };
    if (world.rank() == 0)
      exchange({2, 1, 2, 1}, {});
    if (world.rank() == 1) {
      exchange({}, {0, 0});
      exchange({2}, {});
    }
    if (world.rank() != 2)
      return;
    exchange({}, {0, 0, 1});
    EXPECT_EQ(in[0], bytesOf(0, size));
    EXPECT_EQ(in[1], bytesOf(2, size));
    EXPECT_EQ(in[2], bytesOf(10, size));
  });
}

TEST_P(Communicator, ExchangeNeedsOnlyThoseWithPieces) {
  onEveryRank([](World &world) {
    if (world.rank() % 2 == 0)
      return;
    int sent = world.rank(), received = -1;
    const int peer = 4 - world.rank();
    const PeerBuffer send{peer, &sent, sizeof sent};
    const PeerBuffer receive{peer, &received, sizeof received};
    const Status status =
        world.all().exchange({&send, 1}, {&receive, 1}, kAction);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(received, peer);
  });
}

TEST_P(Communicator, GroupsHaveTheirMembersOnly) {
  onEveryRank([](World &world) {
    std::vector<std::unique_ptr<Group>> groups;
    const Status status =
        world.createGroups({{0, 1}, {2, 3}, {3, 0, 2}, {1}}, groups);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(groups.size(), 4u);
    EXPECT_EQ(groups[0] != nullptr, world.rank() < 2);
    EXPECT_EQ(groups[1] != nullptr, world.rank() >= 2);
    EXPECT_EQ(groups[3] != nullptr, world.rank() == 1);
    const int expectedIndex[kRanks] = {1, -1, 2, 0};
    if (groups[2]) {
      EXPECT_EQ(groups[2]->index(), expectedIndex[world.rank()]);
      EXPECT_EQ(groups[2]->size(), 3);
      expectReduction(*groups[2], {3, 0, 2}, world.rank(), ElementType::F32,
                      dist::ReductionKind::Sum, 3001, /*inPlace=*/false);
    }
    if (groups[3])
      expectReduction(*groups[3], {1}, 1, ElementType::BF16,
                      dist::ReductionKind::Sum, 33,
                      /*inPlace=*/false);
  });
}

// Groups of rows and columns of a 2 x 2 mesh, used in turn without a barrier in
// between.
TEST_P(Communicator, InterleavedGroupsStayApart) {
  onEveryRank([](World &world) {
    std::vector<std::unique_ptr<Group>> groups;
    const Status status =
        world.createGroups({{0, 1}, {2, 3}, {0, 2}, {1, 3}}, groups);
    ASSERT_TRUE(status.ok()) << status.message();
    Group &row = *groups[world.rank() < 2 ? 0 : 1];
    Group &column = *groups[world.rank() % 2 == 0 ? 2 : 3];
    for (int step = 0; step < 200; ++step) {
      int64_t value = world.rank() + step;
      for (Group *group : {&row, &column}) {
        const Status sum = group->allReduce(&value, &value, 1, ElementType::I64,
                                            dist::ReductionKind::Sum, kAction);
        ASSERT_TRUE(sum.ok()) << sum.message();
      }
      EXPECT_EQ(value, 6 + 4 * step);
    }
  });
}

TEST_P(Communicator, BarrierWaitsForTheLast) {
  onEveryRank([](World &world) {
    for (int step = 0; step < 50; ++step) {
      const Status status = world.all().barrier(kAction);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  });
}

TEST_P(Communicator, RefusesListsThatAreNoGroups) {
  onEveryRank([](World &world) {
    std::vector<std::unique_ptr<Group>> groups;
    EXPECT_EQ(world.createGroups({{0, 0}}, groups).code(), DamagedBundle);
    EXPECT_EQ(world.createGroups({{0, 4}}, groups).code(), DamagedBundle);
    EXPECT_EQ(world.createGroups({{}}, groups).code(), DamagedBundle);
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Communicator);

} // namespace pcc::runtime
