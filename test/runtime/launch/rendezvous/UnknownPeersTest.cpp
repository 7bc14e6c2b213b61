//===- UnknownPeersTest.cpp - processes that do not belong to a job -------===//

#include "runtime/launch/rendezvous/UnknownPeers.h"
#include "runtime/launch/rendezvous/MeetingPlace.h"
#include "test/runtime/launch/rendezvous/TestJob.h"

#include <algorithm>
#include <poll.h>

namespace pcc::runtime {

static const JobToken kToken = {"0123456789abcdef"},
                      kOther = {"fedcba9876543210"};

/// Waits until bytes have arrived or the connection is closed. Returns whether
/// it is still open.
static bool receive(Connection &connection) {
  pollfd watched = {connection.fd(), POLLIN, 0};
  ::poll(&watched, 1, 5000);
  return connection.receive();
}

/// Waits for a message of the peer. Returns the result of reading it, which is
/// Partial if the peer has closed the connection.
template <typename Message>
static Parsed await(Connection &connection, Message &message) {
  Parsed parsed = Parsed::Partial;
  for (bool isOpen = true;
       (parsed = connection.take(message)) == Parsed::Partial && isOpen;)
    isOpen = receive(connection);
  return parsed;
}

static bool isClosed(Connection &connection) {
  Greeting greeting;
  return await(connection, greeting) == Parsed::Partial;
}

static void sendBytes(const Connection &connection, const std::string &bytes) {
  ::send(connection.fd(), bytes.data(), bytes.size(),
         MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// A peer that connects to rank 0 of a job of two ranks, and a job that must
/// not be affected by it.
class UnknownPeerTest : public testing::Test {
protected:
  UnknownPeerTest() : job(2) {
    job.token = kToken;
    job.start(0);
  }

  Connection connect() {
    for (;;) {
      PlaceSearch search(job.address);
      EXPECT_TRUE(search.resolve().ok());
      while (const SocketAddress *place = search.next())
        if (OpenFile socket = connectTo(*place); socket.isOpen())
          return Connection(std::move(socket));
    }
  }

  /// Performs the handshake with the token of the job up to Hello, and returns
  /// the keys of the connection.
  SessionKeys shakeHands(Connection &connection) {
    Session session = {randomNonce(), "", ""};
    connection.send(makeKnock(kToken, session.client));
    Greeting answer;
    EXPECT_EQ(await(connection, answer), Parsed::Whole);
    session.server = answer.nonce;
    const SessionKeys keys = deriveKeys(kToken, session);
    EXPECT_TRUE(isProvenAnswer(keys, answer));
    return keys;
  }

  Frame hello() const {
    return {FrameKind::Hello, encodeFields(job.terms(1).self.toFields())};
  }

  /// Expects that the job is unaffected: its rank 1 joins and both end
  /// successfully.
  void expectUndisturbed() {
    job.start(1);
    job.wait();
    job.expectAll(Done, "");
  }

  TestJob job;
};

TEST_F(UnknownPeerTest, ThatKnowsTheTokenIsWelcome) {
  Connection connection = connect();
  connection.seal({shakeHands(connection), SealedChannel::Role::Client});
  connection.send(hello());
  Frame frame;
  EXPECT_EQ(await(connection, frame), Parsed::Whole);
  EXPECT_EQ(frame.kind, FrameKind::Welcome);
  EXPECT_EQ(await(connection, frame), Parsed::Whole);
  EXPECT_EQ(frame.kind, FrameKind::Ready);
  connection.send({FrameKind::Leave});
  job.wait();
  job.expectAll(Done, "");
}

TEST_F(UnknownPeerTest, WithAnotherTokenIsTurnedAwayAndToldNothing) {
  Connection connection = connect();
  connection.send(makeKnock(kOther, randomNonce()));
  EXPECT_TRUE(isClosed(connection));
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, ThatRepeatsTheKnockOfAnotherGetsNoFurther) {
  const Greeting recorded = makeKnock(kToken, randomNonce());
  Connection first = connect(), second = connect();
  Greeting answers[2];
  first.send(recorded);
  EXPECT_EQ(await(first, answers[0]), Parsed::Whole);
  second.send(recorded);
  EXPECT_EQ(await(second, answers[1]), Parsed::Whole);
  EXPECT_NE(answers[0].nonce, answers[1].nonce);
  // The Hello of the first connection is not one of the second.
  SealedChannel channel(
      deriveKeys(kToken, {recorded.nonce, answers[0].nonce, ""}),
      SealedChannel::Role::Client);
  sendBytes(second, channel.seal(hello()));
  EXPECT_TRUE(isClosed(second));
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, ThatChangesAHelloIsTurnedAway) {
  Connection connection = connect();
  SealedChannel channel(shakeHands(connection), SealedChannel::Role::Client);
  std::string bytes = channel.seal(hello());
  bytes.back() = char(bytes.back() ^ 1);
  sendBytes(connection, bytes);
  EXPECT_TRUE(isClosed(connection));
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, ThatReturnsTheMessagesOfRank0IsTurnedAway) {
  Connection connection = connect();
  const SessionKeys keys = shakeHands(connection);
  SealedChannel channel(keys, SealedChannel::Role::Server);
  sendBytes(connection, channel.seal(hello()));
  EXPECT_TRUE(isClosed(connection));
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, ThatSendsAHelloOfAnySizeIsTurnedAway) {
  for (const size_t size : {size_t(4000), kLongestPayload}) {
    Connection connection = connect();
    SealedChannel channel(shakeHands(connection), SealedChannel::Role::Client);
    sendBytes(connection,
              channel.seal({FrameKind::Hello, std::string(size, 'x')}));
    EXPECT_TRUE(isClosed(connection));
  }
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, ThatSpeaksOtherwiseIsTurnedAway) {
  std::string newer = encodeGreeting(makeKnock(kToken, randomNonce()));
  newer[4] = char(kProtocolVersion + 1);
  for (const std::string &said :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(200000, '\0'),
        std::string("PCCR\x01\x00\x03\x00\xff\xff\xff\xff", 12), newer,
        encodeGreeting({GreetingKind::Answer, randomNonce(), randomNonce()})}) {
    Connection connection = connect();
    sendBytes(connection, said);
    EXPECT_TRUE(isClosed(connection));
  }
  connect().close();
  expectUndisturbed();
}

TEST_F(UnknownPeerTest, MayBeOneOfAThousand) {
  std::vector<Connection> silent;
  for (int i = 0; i < 1000; ++i)
    silent.push_back(connect());
  for (Connection &one : silent)
    sendBytes(one, "P");
  expectUndisturbed();
}

TEST(UnknownPeers, DoNotDisplaceThoseWithARightKnock) {
  UnknownPeers peers(4);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(peers.add(Connection()));
    if (i % 5 == 0)
      peers.setAnswered(ids.back());
  }
  const auto numOf = [&](bool isAnswered) {
    return std::count_if(ids.begin(), ids.end(), [&](uint64_t id) {
      const UnknownPeer *peer = peers.find(id);
      return peer && peer->isAnswered == isAnswered;
    });
  };
  EXPECT_EQ(numOf(true), 4);
  EXPECT_EQ(numOf(false), 4);
  EXPECT_TRUE(peers.find(ids[0]));
  EXPECT_FALSE(peers.find(ids[1]));
  EXPECT_TRUE(peers.find(ids[19]));
  peers.setAnswered(ids[19]);
  EXPECT_FALSE(peers.find(ids[0]));
  while (peers.removeOldest())
    ;
  EXPECT_EQ(numOf(true) + numOf(false), 0);
}

//===----------------------------------------------------------------------===//
// Processes that listen in place of rank 0
//===----------------------------------------------------------------------===//

/// A process that listens at the address of a job before its rank 0 does, and
/// answers every connection with the same bytes.
class Impostor {
public:
  Impostor(const Address &address, std::string said) : said(std::move(said)) {
    Address place;
    EXPECT_TRUE(listenAt(address, listener, place).ok());
    thread = std::thread([this] { serve(); });
  }
  ~Impostor() {
    isOver = true;
    thread.join();
  }

  std::atomic<int> numServed{0};

private:
  void serve() {
    std::vector<Connection> served;
    while (!isOver) {
      pollfd watched = {listener.fd(), POLLIN, 0};
      if (::poll(&watched, 1, 10) != 1)
        continue;
      served.emplace_back(OpenFile(accept(listener.fd(), nullptr, nullptr)));
      receive(served.back());
      sendBytes(served.back(), said);
      ++numServed;
    }
  }

  const std::string said;
  OpenFile listener;
  std::atomic<bool> isOver{false};
  std::thread thread;
};

/// Returns what an impostor may say.
static std::vector<std::string> lies() {
  const Session session = {randomNonce(), randomNonce(), ""};
  const SessionKeys keys = deriveKeys(kOther, session);
  SealedChannel channel(keys, SealedChannel::Role::Server);
  const std::string refusal =
      channel.seal({FrameKind::Refusal, "code=3\nreason=\x1b[31mred\x1b[0m\n"});
  return {"", "HTTP/1.1 400 Bad Request\r\n\r\n",
          std::string("PCCR\x01\x00\x04\x00\x0e\0\0\0code=3\nreason=x", 26),
          encodeGreeting(makeAnswer(keys, session)),
          encodeGreeting(makeAnswer(keys, session)) + refusal};
}

static Address someTcp() {
  static int number = 0;
  return {Address::Kind::Tcp, "127.0.0.1",
          20000 + (getpid() * 64 + 16 * ++number) % 10000};
}

TEST(Impostor, DoesNotKeepRanksFromMeetingElsewhere) {
  for (const bool isTcp : {false, true})
    for (const std::string &lie : lies()) {
      TestJob job(2);
      job.token = kToken;
      if (isTcp)
        job.address = someTcp();
      Impostor impostor(job.address, lie);
      job.start(1);
      while (impostor.numServed == 0)
        std::this_thread::yield();
      job.start(0);
      job.wait();
      job.expectAll(Done, "");
    }
}

TEST(Impostor, IsNotBelieved) {
  std::deque<TestJob> jobs;
  std::deque<Impostor> impostors;
  const std::vector<std::string> all = lies();
  for (const std::string &lie : all) {
    TestJob &job = jobs.emplace_back(2);
    job.token = kToken;
    job.patience = 0.1;
    job.address = someTcp();
    impostors.emplace_back(job.address, lie);
    job.start(1);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    jobs[i].wait();
    jobs[i].expectAll(PeerLost, "rank 0 was not found at tcp://127.0.0.1:");
    if (!all[i].empty())
      jobs[i].expectAll(PeerLost, ": a process that does not know the job's "
                                  "token answered there");
  }
}

TEST(Impostor, OfAnotherJobIsNotJoined) {
  TestJob first(2), second(2);
  first.token = kToken;
  second.token = kOther;
  first.address = second.address = someTcp();
  for (int rank : {0, 1})
    for (TestJob *job : {&first, &second})
      job->start(rank);
  for (TestJob *job : {&first, &second}) {
    job->wait();
    job->expectAll(Done, "");
  }
}

/// Passes bytes between a rank and rank 0, which both believe to be connected
/// to each other.
TEST(Impostor, ThatStandsBetweenRanksOfAHostIsNoticed) {
  const SessionKeys right =
      deriveKeys(kToken, {std::string(32, 'c'), std::string(32, 's'), "a"});
  EXPECT_FALSE(isProvenAnswer(
      right, makeAnswer(deriveKeys(kToken, {std::string(32, 'c'),
                                            std::string(32, 's'), "b"}),
                        {std::string(32, 'c'), std::string(32, 's'), "b"})));
  // The route has the ports of both ends.
  Address place;
  OpenFile listener;
  ASSERT_TRUE(listenAt(someTcp(), listener, place).ok());
  PlaceSearch search(place);
  ASSERT_TRUE(search.resolve().ok());
  const OpenFile first = connectTo(*search.next());
  OpenFile accepted;
  while (!accepted.isOpen())
    accepted = OpenFile(accept(listener.fd(), nullptr, nullptr));
  EXPECT_FALSE(routeOf(first.fd(), false).empty());
  EXPECT_EQ(routeOf(first.fd(), false), routeOf(accepted.fd(), true));
  EXPECT_NE(routeOf(first.fd(), false), routeOf(accepted.fd(), false));
}

} // namespace pcc::runtime
