//===- Handshake.h - mutual authentication of two ranks -------------------===//
//
// Begins every connection between rank 0 and another rank. Each end proves, by
// an HMAC over the random bytes of both, that it knows the job token
// (JobToken.h):
//
//   rank 0   Challenge: bytes s                Welcome: proof(0, s, c)
//   rank r                     Hello: bytes c, facts, proof(r, s, c, facts)
//
// Facts are part of the proof, so that they cannot be altered in transit.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H

#include "runtime/launch/rendezvous/Frame.h"
#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/RankFacts.h"

#include <optional>
#include <string>

namespace pcc::runtime {

/// Random bytes that the two ends of a connection send in the handshake.
/// `server`: bytes from rank 0. `client`: bytes from the rank that connects to
/// rank 0.
struct Challenges {
  std::string server, client;
};

/// Returns the Challenge frame, by which rank 0 begins the handshake. `server`
/// are the random bytes of rank 0, which the frame contains.
Frame makeChallenge(const std::string &server);
/// Returns the random bytes in a Challenge frame; std::nullopt if the frame has
/// no challenge of the right length.
std::optional<std::string> challengeIn(const Frame &frame);

/// Returns the Hello frame, the client's reply to rank 0's Challenge. The frame
/// contains the client's random bytes, its facts (rank, host, …), and its proof
/// (HMAC) that it knows the job token.
Frame makeHello(const JobToken &token, const Challenges &challenges,
                const RankFacts &facts);
/// Contents of a Hello frame.
struct Hello {
  /// Random bytes of the client.
  std::string challenge;
  RankFacts facts;
  /// Whether the client has proved that it knows the job token.
  bool isProven = false;
};
/// Parses `frame`, a client's reply to the random bytes `server` of rank 0, and
/// checks the proof in `frame`. Returns std::nullopt if `frame` is no Hello, or
/// lacks facts or random bytes.
std::optional<Hello> readHello(const Frame &frame, const JobToken &token,
                               const std::string &server);

/// Returns the Welcome frame, rank 0's reply to a Hello whose proof is right.
/// The frame contains rank 0's own proof that it knows the job token.
Frame makeWelcome(const JobToken &token, const Challenges &challenges);
/// Returns whether the frame `welcome` contains a right proof (HMAC) of rank 0
/// that it knows the job token.
bool isProven(const Frame &welcome, const JobToken &token,
              const Challenges &challenges);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
