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
  /// First message of a connection, sent by the rank that connects to rank 0.
  Knock = 1,
  /// Reply of rank 0 to Knock.
  Answer = 2,
};

/// A message that is sent before a connection has keys.
struct Greeting {
  GreetingKind kind = GreetingKind::Knock;
  /// Random bytes of the sender, kNonceSize of them.
  std::string nonce;
  /// Sequence of kProofSize bytes that the sender has computed from the secret
  /// of the job. The receiver also computes these bytes. If both results are
  /// equal, the receiver accepts that the sender knows the secret.
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
/// Removes a greeting from the front of the received bytes `arrived`, and
/// stores it in `greeting`. A greeting is the first message that each end of a
/// connection sends. Returns Parsed::Whole if `arrived` begins with a complete
/// greeting. Otherwise, removes no bytes and returns the reason: for example,
/// Parsed::Partial if more bytes must arrive. Does not check the proof in the
/// greeting.
Parsed takeGreeting(std::string &arrived, Greeting &greeting);

/// Returns a Knock, the first message that a rank sends to rank 0. `nonce`
/// contains random bytes, which become a part of the Knock. `token` contains
/// the secret of the job. The Knock also contains a hash of `nonce`. The key of
/// the hash derives from the secret, so the hash proves that the sender knows
/// the secret. The Knock does not contain the secret.
Greeting makeKnock(const JobToken &token, const std::string &nonce);
/// Returns whether `greeting` is a Knock (first message to rank 0) with a right
/// proof.
bool isProvenKnock(const JobToken &token, const Greeting &greeting);

/// Values that are unique to one connection and determine its keys.
struct Session {
  /// Random bytes of each end: `client` is the rank that connects, `server` is
  /// rank 0.
  std::string client, server;
  /// Addresses of both ends (routeOf()). Both ends see the same addresses,
  /// unless another process relays the connection.
  std::string route;
};

/// Keys of one connection, 32 bytes each.
struct SessionKeys {
  /// Encryption keys: `toServer` for the messages to rank 0, `fromServer` for
  /// the messages from rank 0.
  std::string toServer, fromServer;
  /// Proof that rank 0 knows the token, sent in its Answer (reply to Knock).
  std::string proof;
};

/// Returns the keys of a connection.
SessionKeys deriveKeys(const JobToken &token, const Session &session);

/// Returns the Answer, the reply of rank 0 to the first message of another
/// rank. `session` contains the random bytes of both ranks. `keys` contains
/// rank 0's proof that it knows the secret of the job.
Greeting makeAnswer(const SessionKeys &keys, const Session &session);
/// Returns whether `greeting` is an Answer (reply of rank 0) with the right
/// proof.
bool isProvenAnswer(const SessionKeys &keys, const Greeting &greeting);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
