//===- SealedChannelTest.cpp - keys and frames of a connection ------------===//

#include "runtime/launch/rendezvous/SealedChannel.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

static const JobToken kToken = {"0123456789abcdef"},
                      kOther = {"0123456789abcdeF"};

static Session someSession() {
  return {randomNonce(), randomNonce(), "a route"};
}

TEST(Handshake, ProvesTheTokenToBothEnds) {
  const Session session = someSession();
  const Greeting knock = makeKnock(kToken, session.client);
  EXPECT_TRUE(isProvenKnock(kToken, knock));
  EXPECT_FALSE(isProvenKnock(kOther, knock));
  EXPECT_FALSE(isProvenKnock({}, knock));
  const SessionKeys keys = deriveKeys(kToken, session);
  const Greeting answer = makeAnswer(keys, session);
  EXPECT_TRUE(isProvenAnswer(keys, answer));
  EXPECT_FALSE(isProvenAnswer(deriveKeys(kOther, session), answer));
  EXPECT_FALSE(isProvenAnswer(keys, knock));
  EXPECT_FALSE(isProvenKnock(kToken, answer));
}

TEST(Handshake, DependsOnBothNoncesAndTheRoute) {
  const Session session = someSession();
  const SessionKeys keys = deriveKeys(kToken, session);
  Session others[] = {session, session, session};
  others[0].client = randomNonce();
  others[1].server = randomNonce();
  others[2].route = "another route";
  for (const Session &other : others) {
    const SessionKeys different = deriveKeys(kToken, other);
    EXPECT_NE(different.toServer, keys.toServer);
    EXPECT_NE(different.fromServer, keys.fromServer);
    EXPECT_FALSE(isProvenAnswer(keys, makeAnswer(different, other)));
  }
  EXPECT_NE(keys.toServer, keys.fromServer);
}

TEST(Greeting, ComesBackWhateverItsPieces) {
  const Greeting knock = makeKnock(kToken, randomNonce());
  const std::string bytes = encodeGreeting(knock);
  ASSERT_EQ(bytes.size(), kGreetingSize);
  std::string arrived;
  Greeting greeting;
  for (const char byte : bytes.substr(1)) {
    arrived += arrived.empty() ? bytes.substr(0, 1) : "";
    EXPECT_EQ(takeGreeting(arrived, greeting), Parsed::Partial);
    arrived += byte;
  }
  arrived += "rest";
  EXPECT_EQ(takeGreeting(arrived, greeting), Parsed::Whole);
  EXPECT_EQ(greeting.nonce, knock.nonce);
  EXPECT_EQ(greeting.proof, knock.proof);
  EXPECT_EQ(arrived, "rest");
}

TEST(Greeting, IsToldFromOtherProtocols) {
  Greeting greeting;
  for (const char *said : {"GET / HTTP/1.1\r\n\r\n", "P!", "\x16\x03\x01"}) {
    std::string arrived = said;
    EXPECT_EQ(takeGreeting(arrived, greeting), Parsed::Garbage) << said;
  }
  std::string newer = encodeGreeting(makeKnock(kToken, randomNonce()));
  newer[4] = char(kProtocolVersion + 1);
  EXPECT_EQ(takeGreeting(newer, greeting), Parsed::OtherVersion);
  for (const char kind : {char(0), char(3)}) {
    std::string unknown = encodeGreeting(makeKnock(kToken, randomNonce()));
    unknown[6] = kind;
    unknown.resize(8);
    EXPECT_EQ(takeGreeting(unknown, greeting), Parsed::Garbage);
  }
}

/// Both ends of a connection.
class SealedChannels : public testing::Test {
protected:
  SealedChannels() : SealedChannels(deriveKeys(kToken, someSession())) {}
  explicit SealedChannels(const SessionKeys &keys)
      : client(keys, SealedChannel::Role::Client),
        server(keys, SealedChannel::Role::Server) {}

  /// Returns the result of rank 0 when it reads `bytes`.
  Parsed read(std::string bytes) {
    return server.open(bytes, frame, kLongestPayload);
  }

  SealedChannel client, server;
  Frame frame;
};

TEST_F(SealedChannels, CarryFramesInBothDirections) {
  for (int i = 0; i < 3; ++i) {
    const std::string text = "payload " + std::to_string(i);
    const std::string bytes = client.seal({FrameKind::Data, text});
    EXPECT_EQ(bytes.find(text), std::string::npos);
    EXPECT_EQ(read(bytes), Parsed::Whole);
    EXPECT_EQ(frame.kind, FrameKind::Data);
    EXPECT_EQ(frame.payload, text);
    std::string reply = server.seal({FrameKind::Ready});
    EXPECT_EQ(client.open(reply, frame, 0), Parsed::Whole);
    EXPECT_EQ(frame.kind, FrameKind::Ready);
  }
}

TEST_F(SealedChannels, CarryFramesInPieces) {
  const std::string bytes = client.seal({FrameKind::Hello, "a=1\n"});
  std::string arrived;
  for (const char byte : bytes.substr(0, bytes.size() - 1)) {
    arrived += byte;
    EXPECT_EQ(server.open(arrived, frame, kLongestPayload), Parsed::Partial);
  }
  arrived += bytes.back();
  EXPECT_EQ(server.open(arrived, frame, kLongestPayload), Parsed::Whole);
  EXPECT_TRUE(arrived.empty());
}

TEST_F(SealedChannels, RefuseEveryChangedBit) {
  const SessionKeys keys = deriveKeys(kToken, someSession());
  SealedChannel sender(keys, SealedChannel::Role::Client);
  const std::string bytes = sender.seal({FrameKind::Abort, "code=3\n"});
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    SealedChannel receiver(keys, SealedChannel::Role::Server);
    std::string changed = bytes;
    changed[bit / 8] = char(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(receiver.open(changed, frame, kLongestPayload), Parsed::Whole)
        << bit;
  }
}

TEST_F(SealedChannels, RefuseARepeatedFrame) {
  const std::string bytes = client.seal({FrameKind::Data, "x"});
  EXPECT_EQ(read(bytes), Parsed::Whole);
  EXPECT_EQ(read(bytes), Parsed::Garbage);
}

TEST_F(SealedChannels, RefuseFramesInAnotherOrder) {
  client.seal({FrameKind::Data, "1"});
  EXPECT_EQ(read(client.seal({FrameKind::Data, "2"})), Parsed::Garbage);
}

TEST_F(SealedChannels, RefuseTheirOwnFrames) {
  EXPECT_EQ(read(server.seal({FrameKind::Leave})), Parsed::Garbage);
}

TEST_F(SealedChannels, RefuseFramesOfAnotherConnectionOrToken) {
  const Session session = someSession();
  for (const SessionKeys &keys :
       {deriveKeys(kToken, session), deriveKeys(kOther, session)}) {
    SealedChannel other(keys, SealedChannel::Role::Client);
    SealedChannel receiver(deriveKeys(kToken, someSession()),
                           SealedChannel::Role::Server);
    std::string bytes = other.seal({FrameKind::Hello, "rank=1\n"});
    EXPECT_EQ(receiver.open(bytes, frame, kLongestPayload), Parsed::Garbage);
  }
}

TEST_F(SealedChannels, RefuseATruncatedFrame) {
  std::string bytes = client.seal({FrameKind::Data, "12345678"});
  bytes[0] = char(bytes[0] - 1);
  bytes.pop_back();
  EXPECT_EQ(read(bytes), Parsed::Garbage);
}

TEST_F(SealedChannels, RefuseAWrongLengthBeforeTheFrameHasArrived) {
  std::string huge("\xff\xff\xff\xff", 4), tiny("\x11\0\0\0", 4);
  EXPECT_EQ(read(huge), Parsed::Garbage);
  EXPECT_EQ(read(tiny), Parsed::Garbage);
  std::string bytes = client.seal({FrameKind::Hello, std::string(100, 'x')});
  EXPECT_EQ(server.open(bytes, frame, 99), Parsed::Garbage);
}

} // namespace pcc::runtime
