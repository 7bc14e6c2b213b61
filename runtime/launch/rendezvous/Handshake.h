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

/// Kind of a greeting. A greeting is the first message that a rank sends on a
/// connection. Each of the two ranks at the ends of a connection sends one
/// greeting. A greeting is not encrypted, because the two ranks compute the
/// encryption keys from the contents of both greetings.
enum class GreetingKind : uint16_t {
  /// First message of a connection, sent by the rank that connects to rank 0.
  Knock = 1,
  /// Second message of a connection, sent by rank 0. Rank 0 sends an Answer if
  /// the first message of the other rank is valid. The Answer proves that rank
  /// 0 knows the secret of the job.
  Answer = 2,
};

/// The first message that a rank sends on a connection. This message is not
/// encrypted. It contains random bytes. It also contains a proof that its
/// sender knows the secret of the job. All later messages are encrypted.
struct Greeting {
  GreetingKind kind = GreetingKind::Knock;
  /// Random bytes that the sender has generated for this connection. Their
  /// number is 32 (kNonceSize). The encryption keys of the connection depend on
  /// these bytes, so each connection has different keys.
  std::string nonce;
  /// Sequence of kProofSize bytes that the sender has computed from the secret
  /// of the job. The receiver also computes these bytes. If both results are
  /// equal, the receiver accepts that the sender knows the secret.
  std::string proof;
};
inline constexpr size_t kNonceSize = 32;
inline constexpr size_t kProofSize = 32;
/// Number of bytes of every greeting. A greeting is the first message that a
/// rank sends on a connection. The first 8 bytes contain a fixed text, the
/// version of the protocol, and the kind of the greeting. Random bytes and a
/// proof follow. The proof shows that the sender knows the secret of the job.
inline constexpr size_t kGreetingSize = 8 + kNonceSize + kProofSize;

/// Returns kNonceSize random bytes.
std::string randomNonce();

/// Converts `greeting` to the 72 bytes that a rank sends. A greeting is the
/// first message that a rank sends on a connection.
std::string encodeGreeting(const Greeting &greeting);
/// Removes a greeting from the front of the received bytes `arrived`, and
/// stores it in `greeting`. A greeting is the first message that each end of a
/// connection sends. Returns Parsed::Whole if `arrived` begins with a complete
/// greeting. Otherwise, removes no bytes and returns the reason: for example,
/// Parsed::Partial if more bytes must arrive. Does not check whether the
/// sender of the greeting knows the secret of the job.
Parsed takeGreeting(std::string &arrived, Greeting &greeting);

/// Returns a Knock, the first message that a rank sends to rank 0. `nonce`
/// contains random bytes, which become a part of the Knock. `token` contains
/// the secret of the job. The Knock also contains a hash of `nonce`. The key of
/// the hash derives from the secret, so the hash proves that the sender knows
/// the secret. The Knock does not contain the secret.
Greeting makeKnock(const JobToken &token, const std::string &nonce);
/// Returns whether `greeting` is a valid first message of another rank to rank
/// 0. `greeting.nonce` contains random bytes. `greeting.proof` must be a hash
/// of these random bytes. The key of the hash derives from `token`, the secret
/// of the job. Only a process that knows the secret can compute this hash. Rank
/// 0 also computes the hash. Returns true if both hashes are equal and the kind
/// of `greeting` is Knock.
bool isProvenKnock(const JobToken &token, const Greeting &greeting);

/// Values that are unique to one connection and determine its keys.
struct Session {
  /// Random bytes of each end: `client` is the rank that connects, `server` is
  /// rank 0.
  std::string client, server;
  /// IP addresses and ports of both ends of the connection, as bytes (see
  /// routeOf()). Empty if the connection is not a TCP connection over the
  /// loopback interface. The encryption keys depend on this string. A hostile
  /// process on this host may forward the messages between two ranks. There are
  /// then two connections with different ports, so the ranks compute different
  /// values of SessionKeys::proof. The connecting rank detects this and closes
  /// the connection.
  std::string route;
};

/// Keys of one connection, 32 bytes each.
struct SessionKeys {
  /// Encryption keys: `toServer` for the messages to rank 0, `fromServer` for
  /// the messages from rank 0.
  std::string toServer, fromServer;
  /// Proof that rank 0 knows the secret of the job. Rank 0 sends these bytes in
  /// its first message to the other rank. The other rank also computes these
  /// bytes from the secret, and compares them with the received bytes.
  std::string proof;
};

/// Returns the encryption keys of one connection between rank 0 and another
/// rank. Computes the keys from `token` and `session`. `token` is the secret of
/// the job. `session` contains random bytes of both ranks and the addresses of
/// both ranks. Both ranks call this function with equal values, so they get
/// equal keys. A process that does not know the secret cannot compute the keys.
///
/// The result also contains a proof, which rank 0 sends to the other rank. The
/// proof shows that rank 0 knows the secret.
SessionKeys deriveKeys(const JobToken &token, const Session &session);

/// Returns the Answer, the reply of rank 0 to the first message of another
/// rank. `session` contains the random bytes of both ranks. `keys` contains
/// rank 0's proof that it knows the secret of the job.
Greeting makeAnswer(const SessionKeys &keys, const Session &session);
/// Returns whether `greeting` is a valid reply of rank 0 to the first message
/// of this rank. The reply contains a proof that its sender knows the secret of
/// the job. This rank has computed the expected proof, `keys.proof`, from the
/// secret. Returns true if both proofs are equal and the kind of `greeting` is
/// Answer.
bool isProvenAnswer(const SessionKeys &keys, const Greeting &greeting);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_HANDSHAKE_H
