//===- Handshake.cpp - mutual authentication of two ranks -----------------===//

#include "runtime/launch/rendezvous/Handshake.h"

namespace pcc::runtime {

Frame makeChallenge(const std::string &server) {
  return {FrameKind::Challenge, encodeFields({{"challenge", toHex(server)}})};
}

std::optional<std::string> challengeIn(const Frame &frame) {
  std::string challenge = fromHex(decodeFields(frame.payload)["challenge"]);
  if (challenge.size() != JobToken::kChallengeSize)
    return std::nullopt;
  return challenge;
}

/// Returns the client's proof (HMAC) that it knows the job token. The HMAC
/// covers both random challenges and all other fields of the Hello frame except
/// the proof itself.
static std::string clientProof(const JobToken &token,
                               const Challenges &challenges,
                               const Fields &facts) {
  return token.proof(JobToken::Role::Client, challenges.server,
                     challenges.client, encodeFields(facts));
}

Frame makeHello(const JobToken &token, const Challenges &challenges,
                const RankFacts &facts) {
  Fields fields = facts.toFields();
  const std::string proof = clientProof(token, challenges, fields);
  fields["challenge"] = toHex(challenges.client);
  fields["proof"] = toHex(proof);
  return {FrameKind::Hello, encodeFields(fields)};
}

std::optional<Hello> readHello(const Frame &frame, const JobToken &token,
                               const std::string &server) {
  const auto challenge = challengeIn(frame);
  Fields fields = decodeFields(frame.payload);
  const std::string proof = fromHex(fields["proof"]);
  fields.erase("challenge");
  fields.erase("proof");
  const auto facts = RankFacts::fromFields(fields);
  if (frame.kind != FrameKind::Hello || !facts || !challenge)
    return std::nullopt;
  const std::string expected = clientProof(token, {server, *challenge}, fields);
  return Hello{*challenge, *facts, JobToken::areEqual(proof, expected)};
}

static std::string serverProof(const JobToken &token,
                               const Challenges &challenges) {
  return token.proof(JobToken::Role::Server, challenges.server,
                     challenges.client, "");
}

Frame makeWelcome(const JobToken &token, const Challenges &challenges) {
  return {FrameKind::Welcome,
          encodeFields({{"proof", toHex(serverProof(token, challenges))}})};
}

bool isProven(const Frame &welcome, const JobToken &token,
              const Challenges &challenges) {
  const std::string proof = fromHex(decodeFields(welcome.payload)["proof"]);
  return JobToken::areEqual(proof, serverProof(token, challenges));
}

} // namespace pcc::runtime
