//===- UnknownPeersTest.cpp - who does not belong to a job ----------------===//

#include "test/runtime/launch/rendezvous/TestJob.h"

namespace pcc::runtime {

static const JobToken kToken = {"0123456789abcdef"}, kOther = {"fedcba98"};

/// Waits until a message has arrived or the connection is closed.
static bool receive(Connection &connection) {
  pollfd watched = {connection.fd(), POLLIN, 0};
  ::poll(&watched, 1, 5000);
  return connection.receive();
}

static Frame await(Connection &connection) {
  Frame frame;
  while (connection.take(frame) == Parsed::Partial)
    if (!receive(connection)) {
      connection.take(frame);
      break;
    }
  return frame;
}

/// A peer that connects to rank 0 of a job and does not belong to it.
class UnknownPeer : public testing::Test {
protected:
  UnknownPeer() : job(2) {
    job.token = kToken;
    job.start(0);
  }

  Connection connect(bool isPolite = true) {
    std::vector<SocketAddress> places;
    EXPECT_TRUE(resolve(job.address, places).ok());
    for (;;)
      if (OpenFile socket = connectTo(places.front()); socket.isOpen()) {
        Connection made(std::move(socket));
        if (isPolite)
          challenge = fromHex(decodeFields(await(made).payload)["challenge"]);
        return made;
      }
  }

  /// Returns the first message of rank 1.
  Frame hello(const JobToken &token, const std::string &hosts) const {
    const std::string own(32, 'c');
    Fields fields = job.terms(1).self.toFields();
    const std::string proof =
        token.proof(JobToken::Role::Client, hosts, own, encodeFields(fields));
    fields["challenge"] = toHex(own);
    fields["proof"] = toHex(proof);
    return {FrameKind::Hello, encodeFields(fields)};
  }

  /// Expects that the job is unaffected: its rank 1 joins and both end
  /// successfully.
  void expectUndisturbed() {
    job.start(1);
    job.wait();
    job.expectAll(Done, "");
  }

  TestJob job;
  std::string challenge; ///< of the last connection
};

TEST_F(UnknownPeer, ThatKnowsTheTokenIsWelcome) {
  Connection connection = connect();
  connection.send(hello(kToken, challenge));
  const Frame welcome = await(connection);
  EXPECT_EQ(welcome.kind, FrameKind::Welcome);
  EXPECT_EQ(fromHex(decodeFields(welcome.payload)["proof"]),
            kToken.proof(JobToken::Role::Server, challenge,
                         std::string(32, 'c'), ""));
  EXPECT_EQ(await(connection).kind, FrameKind::Ready);
  connection.send({FrameKind::Leave});
  job.wait();
}

TEST_F(UnknownPeer, WithAnotherTokenIsRefused) {
  Connection connection = connect();
  connection.send(hello(kOther, challenge));
  EXPECT_EQ(await(connection).kind, FrameKind::Refusal);
  JoinTerms terms = job.terms(1);
  terms.token = kOther;
  std::shared_ptr<SocketRendezvous> joined;
  const Status status =
      SocketRendezvous::join(terms, 30, [](auto &, auto) {}, joined);
  EXPECT_EQ(status.code(), WrongWorld);
  EXPECT_NE(status.message().find("has another PCC_JOB_TOKEN than rank 0"),
            std::string::npos)
      << status.message();
  expectUndisturbed();
}

TEST_F(UnknownPeer, ThatRepeatsWhatAnotherSaidIsRefused) {
  Connection first = connect();
  const Frame recorded = hello(kToken, challenge);
  Connection second = connect();
  second.send(recorded);
  EXPECT_EQ(await(second).kind, FrameKind::Refusal);
  first.close();
  expectUndisturbed();
}

TEST_F(UnknownPeer, ThatChangesWhatAnotherSaidIsRefused) {
  Connection connection = connect();
  Frame frame = hello(kToken, challenge);
  Fields fields = decodeFields(frame.payload);
  fields["pid"] = "1";
  connection.send({FrameKind::Hello, encodeFields(fields)});
  EXPECT_EQ(await(connection).kind, FrameKind::Refusal);
  expectUndisturbed();
}

TEST_F(UnknownPeer, ThatReturnsTheProofOfRank0IsRefused) {
  Connection connection = connect();
  Fields fields = decodeFields(hello(kToken, challenge).payload);
  fields["proof"] = toHex(kToken.proof(JobToken::Role::Server, challenge,
                                       std::string(32, 'c'), ""));
  connection.send({FrameKind::Hello, encodeFields(fields)});
  EXPECT_EQ(await(connection).kind, FrameKind::Refusal);
  expectUndisturbed();
}

TEST_F(UnknownPeer, ThatSpeaksOtherwiseIsTurnedAway) {
  const std::string oversize("PCCR\x01\x00\x02\x00\xff\xff\xff\xff", 12);
  for (const std::string &said :
       {std::string("GET / HTTP/1.1\r\n\r\n"), oversize,
        std::string(200000, '\0'), std::string()}) {
    Connection connection = connect();
    ::send(connection.fd(), said.data(), said.size(),
           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (said.empty())
      connection.close();
    else
      EXPECT_EQ(await(connection).payload, "");
  }
  for (const FrameKind kind :
       {FrameKind::Abort, FrameKind::Leave, FrameKind::Data, FrameKind::Hello,
        FrameKind::Welcome}) {
    Connection connection = connect();
    connection.send({kind, "code=1\nreason=x\nrank=1\n"});
    EXPECT_EQ(await(connection).payload, "");
  }
  expectUndisturbed();
}

TEST_F(UnknownPeer, OfAnotherVersionIsToldSo) {
  Connection connection = connect();
  std::string bytes = encodeFrame(hello(kToken, challenge));
  bytes[4] = char(kProtocolVersion + 1);
  ::send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  EXPECT_EQ(await(connection).kind, FrameKind::Refusal);
  expectUndisturbed();
}

TEST_F(UnknownPeer, MayBeOneOfMany) {
  // There are more connections than are served at once: silent ones do not keep
  // others out forever.
  std::vector<Connection> silent;
  for (int i = 0; i < 300; ++i)
    silent.push_back(connect(/*isPolite=*/false));
  silent.erase(silent.begin(), silent.begin() + 100);
  expectUndisturbed();
}

TEST(Impostor, IsNotTakenForRank0) {
  TestJob job(2);
  job.token = kToken;
  job.patience = 0.1;
  OpenFile listener;
  ASSERT_TRUE(listenAt(job.address, listener).ok());
  job.start(1);
  pollfd watched = {listener.fd(), POLLIN, 0};
  ::poll(&watched, 1, 5000);
  Connection connection(OpenFile(accept(listener.fd(), nullptr, nullptr)));
  connection.send({FrameKind::Challenge,
                   encodeFields({{"challenge", toHex(std::string(32, 'h'))}})});
  EXPECT_EQ(await(connection).kind, FrameKind::Hello);
  connection.send({FrameKind::Welcome,
                   encodeFields({{"proof", toHex(std::string(32, 'x'))}})});
  EXPECT_FALSE(receive(connection));
  listener.reset();
  job.wait();
  job.expectAll(PeerLost, "rank 0 was not found at unix:@pcc-test-");
}

} // namespace pcc::runtime
