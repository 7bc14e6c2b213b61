//===- PostSuite.cpp - pieces that travel beside what ranks do ------------===//

#include "test/conformance/Backend.h"

#include <numeric>

namespace pcc::runtime {

static const ActionId kAction{"0F3", "h"};

/// Returns piece number `number` that `from` sends to its right neighbour.
static std::vector<int> pieceOf(int from, size_t number) {
  constexpr size_t sizes[] = {1, 70'000, 0, 300'000, 5, 1000};
  std::vector<int> values(sizes[number % std::size(sizes)]);
  std::iota(values.begin(), values.end(), from * 100 + int(number));
  return values;
}

namespace {
/// Exchanges pieces with the right and the left neighbour. Each piece has a
/// ticket of its own.
class Ring {
public:
  Ring(World &world, size_t numPieces)
      : right((world.rank() + 1) % kRanks),
        left((world.rank() + kRanks - 1) % kRanks), sendTickets(numPieces),
        receiveTickets(numPieces) {
    std::vector<World::PeerEdge> edges;
    for (int from = 0; from < kRanks; ++from)
      edges.push_back({from, (from + 1) % kRanks});
    EXPECT_TRUE(world.createExchanges({{0, 1, 2, 3}}, edges, groups).ok());
    for (size_t i = 0; i < numPieces; ++i) {
      out.push_back(pieceOf(world.rank(), i));
      in.emplace_back(out.back().size(), -1);
    }
  }

  Group &group() { return *groups[0]; }

  void send(size_t number) {
    const PeerBuffer piece{right, out[number].data(),
                           out[number].size() * sizeof(int)};
    expect(group().post({&piece, 1}, {}, kAction, sendTickets[number]));
  }
  void receive(size_t number) {
    const PeerBuffer piece{left, in[number].data(),
                           in[number].size() * sizeof(int)};
    expect(group().post({}, {&piece, 1}, kAction, receiveTickets[number]));
  }
  void waitForSend(size_t number) {
    expect(group().wait({&sendTickets[number], 1}, kAction));
  }
  void waitForReceive(size_t number) {
    expect(group().wait({&receiveTickets[number], 1}, kAction));
    EXPECT_EQ(in[number], pieceOf(left, number));
  }
  void waitForAllSends() { expect(group().wait(sendTickets, kAction)); }

  static void expect(const Status &status) {
    EXPECT_TRUE(status.ok()) << status.message();
  }

private:
  int right, left;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<std::vector<int>> out, in;
  std::vector<Ticket> sendTickets, receiveTickets;
};
} // namespace

// No rank receives before all have sent: calls that block would never end.
TEST_P(Communicator, PostsReturnBeforeThePeerComes) {
  onEveryRank([](World &world) {
    Ring ring(world, 6);
    for (size_t i = 0; i < 6; ++i)
      ring.send(i);
    Ring::expect(world.all().barrier(kAction));
    for (size_t i = 0; i < 6; ++i)
      ring.receive(i);
    Ring::expect(world.all().barrier(kAction));
    for (size_t i = 0; i < 6; ++i)
      ring.waitForReceive(i);
    ring.waitForAllSends();
  });
}

TEST_P(Communicator, PostsMayBeWaitedForInAnyOrder) {
  onEveryRank([](World &world) {
    Ring ring(world, 6);
    for (size_t i = 0; i < 6; ++i) {
      ring.receive(i);
      ring.send(i);
    }
    for (size_t i = 6; i-- > 0;) {
      ring.waitForReceive(i);
      ring.waitForSend(i);
    }
  });
}

// Some ranks post first the messages that others post last. One rank waits for
// a message that another rank has to forward in the meantime.
TEST_P(Communicator, PostsMoveOnWhileTheirRankDoesOther) {
  onEveryRank([](World &world) {
    Ring ring(world, 12);
    const bool sendsFirst = world.rank() % 2 == 0;
    for (size_t i = 0; i < 12; ++i)
      sendsFirst ? ring.send(i) : ring.receive(i);
    for (int step = 0; step < 20; ++step) {
      ring.group().advance();
      int64_t value = step;
      Ring::expect(world.all().allReduce(&value, &value, 1, ElementType::I64,
                                         dist::ReductionKind::Sum, kAction));
      EXPECT_EQ(value, kRanks * step);
    }
    for (size_t i = 0; i < 12; ++i)
      sendsFirst ? ring.receive(i) : ring.send(i);
    for (size_t i = 0; i < 12; ++i)
      ring.waitForReceive(i);
    ring.waitForAllSends();
  });
}

// Repeats the messages of a step: two are in flight in each direction.
TEST_P(Communicator, PostsAndWaitsTakeTurns) {
  onEveryRank([](World &world) {
    Ring ring(world, 60);
    ring.receive(0);
    for (size_t i = 0; i < 60; ++i) {
      ring.send(i);
      if (i + 1 < 60)
        ring.receive(i + 1);
      ring.waitForReceive(i);
      if (i > 0)
        ring.waitForSend(i - 1);
    }
    ring.waitForSend(59);
  });
}

// Ranks 0 and 3 wait until their messages have been received. The receivers 2
// and 1 have posted, and wait in collectives for ranks 3 and 0. Two messages
// per receiver, the second of which has to be taken after the first.
TEST_P(Communicator, PostsMoveOnWhileTheirRankIsInAnotherGroup) {
  onEveryRank([](World &world) {
    std::vector<std::unique_ptr<Group>> reducing, messages;
    Ring::expect(world.createGroups({{0, 1}, {2, 3}}, reducing));
    Ring::expect(
        world.createExchanges({{0, 2}, {1, 3}}, {{{0, 1}, {1, 0}}}, messages));
    const bool sends = world.rank() == 0 || world.rank() == 3;
    Group &pair = *reducing[size_t(world.rank() / 2)];
    Group &peers = *messages[size_t(world.rank() % 2)];
    std::vector<std::vector<int>> values(2, std::vector<int>(70'000));
    Ticket tickets[2];
    for (int i = 0; i < 2; ++i) {
      if (sends)
        values[i] = pieceOf(world.rank(), 1 + 2 * i);
      values[i].resize(70'000);
      const PeerBuffer piece{1 - peers.index(), values[i].data(),
                             values[i].size() * sizeof(int)};
      const std::span<const PeerBuffer> one{&piece, 1}, none;
      Ring::expect(peers.post(sends ? one : none, sends ? none : one, kAction,
                              tickets[i]));
    }
    if (sends)
      Ring::expect(peers.wait(tickets, kAction));
    int64_t value = world.rank();
    Ring::expect(pair.allReduce(&value, &value, 1, ElementType::I64,
                                dist::ReductionKind::Sum, kAction));
    EXPECT_EQ(value, world.rank() < 2 ? 1 : 5);
    if (!sends)
      Ring::expect(peers.wait(tickets, kAction));
    const int sender = world.rank() % 2 == 0 ? 0 : 3;
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(values[i].back(), pieceOf(sender, 1 + 2 * i)[69'999]);
  });
}

TEST_P(Communicator, AnExchangeKeepsItsPlaceAmongPosts) {
  onEveryRank([](World &world) {
    const int peer = world.rank() ^ 1;
    int out[3] = {world.rank() * 3, world.rank() * 3 + 1, world.rank() * 3 + 2};
    int in[3] = {-1, -1, -1};
    Ticket tickets[2];
    const auto post = [&](int number, Ticket &ticket) {
      const PeerBuffer send{peer, &out[number], sizeof(int)};
      const PeerBuffer receive{peer, &in[number], sizeof(int)};
      Ring::expect(
          world.all().post({&send, 1}, {&receive, 1}, kAction, ticket));
    };
    post(0, tickets[0]);
    const PeerBuffer send{peer, &out[1], sizeof(int)};
    const PeerBuffer receive{peer, &in[1], sizeof(int)};
    Ring::expect(world.all().exchange({&send, 1}, {&receive, 1}, kAction));
    EXPECT_EQ(in[1], peer * 3 + 1);
    post(2, tickets[1]);
    Ring::expect(world.all().wait(tickets, kAction));
    EXPECT_EQ(in[0], peer * 3);
    EXPECT_EQ(in[2], peer * 3 + 2);
  });
}

} // namespace pcc::runtime
