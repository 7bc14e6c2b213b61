//===- Handshake.cpp - mutual authentication of two ranks -----------------===//

#include "runtime/launch/rendezvous/Handshake.h"

#include <algorithm>
#include <cstring>
#include <sodium.h>

namespace pcc::runtime {

static constexpr char kMagic[4] = {'P', 'C', 'C', 'R'};
static constexpr size_t kHeaderSize = 8;
/// Text that is an input of every key that pcc derives from the secret of a
/// job. libsodium calls this text a context. A program with another text gets
/// other keys from the same secret. Each version of the protocol between ranks
/// therefore has its own text.
static constexpr char kContext[crypto_kdf_CONTEXTBYTES + 1] = "pccmeet2";

static unsigned char *bytesOf(std::string &text) {
  return reinterpret_cast<unsigned char *>(text.data());
}
static const unsigned char *bytesOf(const std::string &text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

/// Initializes the library libsodium. The second call and all later calls in a
/// process do nothing. Must be called before any other function of libsodium.
static void startSodium() {
  [[maybe_unused]] static const int started = sodium_init();
}

std::string randomNonce() {
  startSodium();
  std::string bytes(kNonceSize, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string encodeGreeting(const Greeting &greeting) {
  std::string bytes(kMagic, sizeof kMagic);
  putNumber(bytes, kProtocolVersion, 2);
  putNumber(bytes, uint64_t(greeting.kind), 2);
  return bytes + greeting.nonce + greeting.proof;
}

/// Detects a message of another program as early as possible. Every first
/// message of a rank begins with the four bytes "PCCR" (kMagic). For example,
/// if only the two bytes "PX" have arrived, returns Parsed::Garbage and does
/// not wait for more bytes.
Parsed takeGreeting(std::string &arrived, Greeting &greeting) {
  const size_t known = std::min(arrived.size(), sizeof kMagic);
  if (std::memcmp(arrived.data(), kMagic, known) != 0)
    return Parsed::Garbage;
  if (arrived.size() < kHeaderSize)
    return Parsed::Partial;
  if (numberAt(arrived, 4, 2) != kProtocolVersion)
    return Parsed::OtherVersion;
  const uint32_t kind = numberAt(arrived, 6, 2);
  if (kind != uint32_t(GreetingKind::Knock) &&
      kind != uint32_t(GreetingKind::Answer))
    return Parsed::Garbage;
  if (arrived.size() < kGreetingSize)
    return Parsed::Partial;
  greeting.kind = GreetingKind(kind);
  greeting.nonce = arrived.substr(kHeaderSize, kNonceSize);
  greeting.proof = arrived.substr(kHeaderSize + kNonceSize, kProofSize);
  arrived.erase(0, kGreetingSize);
  return Parsed::Whole;
}

//===----------------------------------------------------------------------===//
// Keys and proofs
//===----------------------------------------------------------------------===//

/// Returns the BLAKE2b hash of `text` under `key`, which may be empty.
static std::string hashOf(const std::string &text, const std::string &key) {
  std::string made(32, '\0');
  crypto_generichash(bytesOf(made), made.size(), bytesOf(text), text.size(),
                     bytesOf(key), key.size());
  return made;
}

/// Returns a key that derives from the key `parent`. Each value of `number`
/// gives another key.
static std::string subkey(const std::string &parent, uint64_t number) {
  std::string made(32, '\0');
  crypto_kdf_derive_from_key(bytesOf(made), made.size(), number, kContext,
                             bytesOf(parent));
  return made;
}

/// Returns a key that derives from `token`, the secret of the job. The function
/// can return two keys:
///
/// - `number` = 1: the key of the hash in a Knock. A Knock is the first message
///   that a rank sends to rank 0. The hash proves that the sender knows the
///   secret.
/// - `number` = 2: the key from which deriveKeys() derives the encryption keys
///   of each connection.
static std::string keyOf(const JobToken &token, uint64_t number) {
  startSodium();
  return subkey(hashOf(kContext, token.bytes), number);
}

/// Returns whether the strings `proof` and `other` are equal. `proof` contains
/// bytes that this rank has received from another process. `other` contains
/// bytes that this rank has computed from the secret of the job. If the two
/// strings are equal, the other process also knows the secret.
///
/// The duration of the comparison does not depend on the number of equal bytes.
/// Otherwise, an attacker could send a guessed proof, measure the duration, and
/// learn how many bytes of the guess are right.
static bool areEqual(const std::string &proof, const std::string &other) {
  return proof.size() == other.size() &&
         sodium_memcmp(proof.data(), other.data(), proof.size()) == 0;
}

static std::string proofOfKnock(const JobToken &token,
                                const std::string &nonce) {
  return hashOf(nonce, keyOf(token, 1));
}

Greeting makeKnock(const JobToken &token, const std::string &nonce) {
  return {GreetingKind::Knock, nonce, proofOfKnock(token, nonce)};
}

bool isProvenKnock(const JobToken &token, const Greeting &greeting) {
  return greeting.kind == GreetingKind::Knock &&
         areEqual(greeting.proof, proofOfKnock(token, greeting.nonce));
}

/// Concatenates three strings: 32 random bytes of the connecting rank, 32
/// random bytes of rank 0, and `session.route`. The route is the addresses of
/// both ends of the connection. Computes a hash of the concatenation. The key
/// of this hash derives from the secret `token`. Derives two encryption keys
/// and the proof of rank 0 from the hash. The proof shows that rank 0 knows the
/// secret.
///
/// The concatenation needs no separators. Bytes 0 to 31 are always the first
/// string, bytes 32 to 63 are always the second string, and all later bytes are
/// the third string.
SessionKeys deriveKeys(const JobToken &token, const Session &session) {
  const std::string key =
      hashOf(session.client + session.server + session.route, keyOf(token, 2));
  return {subkey(key, 1), subkey(key, 2), subkey(key, 3)};
}

Greeting makeAnswer(const SessionKeys &keys, const Session &session) {
  return {GreetingKind::Answer, session.server, keys.proof};
}

bool isProvenAnswer(const SessionKeys &keys, const Greeting &greeting) {
  return greeting.kind == GreetingKind::Answer &&
         areEqual(greeting.proof, keys.proof);
}

} // namespace pcc::runtime
