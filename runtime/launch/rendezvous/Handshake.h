//===- Handshake.h - mutual authentication of two ranks -------------------===//
//
// Begins every connection between rank 0 and another rank:
//
//   rank r   Knock: nonce c, proof of the token
//   rank 0                            Answer: nonce s, proof of the token
//
// All later messages are encrypted and authenticated (SealedChannel.h) by keys
// that derive from the job token (JobToken.h), both nonces, and the route:
//
//                    ┌─ key of Knocks ──────────── proof in Knock, with c
//   token ── master ─┤
//                    └─ key of sessions ─ c, s, route ─┬─ proof in Answer
//                                                      ├─ key rank r → rank 0
//                                                      └─ key rank 0 → rank r
//
// The proof in Knock lets rank 0 close foreign connections at once. It can be
// replayed, but a replay does not yield the keys of the session.
//
// Offsets of both messages in bytes; numbers are little-endian:
//
//   0       4         6      8           40          72
//   | magic | version | kind | nonce     | proof     |
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H

#include "runtime/launch/rendezvous/Frame.h"
#include "runtime/launch/rendezvous/JobToken.h"

#include <string>

namespace pcc::runtime {

/// Version of the messages between ranks at start-up.
inline constexpr uint16_t kProtocolVersion = 2;

/// The two messages that are sent before a connection has keys.
enum class GreetingKind : uint16_t {
  /// First message of a connection, sent by the rank that has connected.
  Knock = 1,
  /// Reply of rank 0 to Knock.
  Answer = 2,
};

/// A message that is sent before a connection has keys.
struct Greeting {
  GreetingKind kind = GreetingKind::Knock;
  /// Random bytes of the sender, kNonceSize of them.
  std::string nonce;
  /// Proof of the sender that it knows the job token, kProofSize bytes.
  std::string proof;
};
inline constexpr size_t kNonceSize = 32;
inline constexpr size_t kProofSize = 32;
/// Size of every greeting in bytes.
inline constexpr size_t kGreetingSize = 8 + kNonceSize + kProofSize;

/// Returns kNonceSize random bytes.
std::string randomNonce();

/// Returns the bytes that are sent for `greeting`.
std::string encodeGreeting(const Greeting &greeting);
/// Removes a greeting from the front of the received bytes `arrived`, if it is
/// complete, and stores it in `greeting`. Returns the result of the attempt.
/// Proofs are not checked.
Parsed takeGreeting(std::string &arrived, Greeting &greeting);

/// Returns the Knock with the client's nonce `nonce`, with proof.
Greeting makeKnock(const JobToken &token, const std::string &nonce);
/// Returns whether `greeting` is a Knock whose proof is right.
bool isProvenKnock(const JobToken &token, const Greeting &greeting);

/// Values that make the keys of a connection different from those of all
/// others.
struct Session {
  /// Nonces of both ends: `client` of the rank that has connected, `server` of
  /// rank 0.
  std::string client, server;
  /// Route of the connection (routeOf()). Both ends must see the same route,
  /// so that a process of the host cannot stand between them.
  std::string route;
};

/// Keys of one connection, 32 bytes each.
struct SessionKeys {
  /// Keys of the messages to rank 0, and of those from rank 0.
  std::string toServer, fromServer;
  /// Proof of rank 0 in Answer.
  std::string proof;
};

/// Returns the keys of a connection.
SessionKeys deriveKeys(const JobToken &token, const Session &session);

/// Returns the Answer of rank 0 in the session `session`.
Greeting makeAnswer(const SessionKeys &keys, const Session &session);
/// Returns whether `greeting` is an Answer whose proof is right.
bool isProvenAnswer(const SessionKeys &keys, const Greeting &greeting);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
