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

/// The random bytes of both ends of a connection: of rank 0 (server), and of
/// the other rank (client).
struct Challenges {
  std::string server, client;
};

/// Returns the frame with which rank 0 begins: its random bytes.
Frame makeChallenge(const std::string &server);
/// Returns the random bytes in a Challenge frame; std::nullopt if the frame has
/// no challenge of the right length.
std::optional<std::string> challengeIn(const Frame &frame);

/// Returns the reply to a challenge: the client's random bytes, its facts, and
/// its proof.
Frame makeHello(const JobToken &token, const Challenges &challenges,
                const RankFacts &facts);
/// Contents of a Hello frame.
struct Hello {
  /// Random bytes of the client.
  std::string challenge;
  RankFacts facts;
  /// Whether the client knows the token.
  bool isProven = false;
};
/// Reads the reply to the challenge `server`. Returns std::nullopt if the frame
/// is no Hello, or lacks facts or random bytes.
std::optional<Hello> readHello(const Frame &frame, const JobToken &token,
                               const std::string &server);

/// Returns the reply to a proven Hello: the proof of rank 0.
Frame makeWelcome(const JobToken &token, const Challenges &challenges);
/// Returns whether a Welcome frame proves that rank 0 knows the token.
bool isProven(const Frame &welcome, const JobToken &token,
              const Challenges &challenges);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
