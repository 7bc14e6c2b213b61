//===- JobToken.h - authentication of the ranks of a job ------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H

#include "runtime/launch/rendezvous/Address.h"

#include <string>

namespace pcc::runtime {

/// Environment variable with the job token (the secret that the ranks share),
/// as 32 hexadecimal digits.
inline constexpr const char *kTokenVariable = "PCC_JOB_TOKEN";

/// The secret that the ranks of a job share. Both ends of a connection prove
/// that they know the secret, without sending it (Handshake.h):
///
/// 1. Each end sends random bytes.
/// 2. Each end sends an HMAC-SHA-256 over the random bytes of both ends, with
///    the secret as key.
///
/// The random bytes differ in each handshake, so a recorded handshake cannot be
/// replayed.
class JobToken {
public:
  /// Number of random bytes that one end sends.
  static constexpr size_t kChallengeSize = 32;
  /// Returns kChallengeSize random bytes.
  static std::string challenge();

  /// The end of a connection that computes a proof: Server is rank 0, Client is
  /// any other rank. The role is part of the proof. Otherwise an attacker could
  /// receive a proof from one end and send it back to that end.
  enum class Role : char { Server = 'h', Client = 'g' };

  /// Returns the proof that `role` sends: an HMAC of 32 bytes, with the token
  /// as key. The HMAC covers the role, both challenges (random bytes), and
  /// `said`, the other content of the message that carries the proof.
  std::string proof(Role role, const std::string &serverChallenge,
                    const std::string &clientChallenge,
                    const std::string &said) const;
  /// Returns whether two proofs are equal, in constant time, so that timing
  /// does not reveal how many bytes match.
  static bool areEqual(const std::string &proof, const std::string &other);

  /// The secret token, 16 bytes. Empty if PCC_JOB_TOKEN is not set, which is
  /// allowed only for an address that only this host can reach.
  std::string bytes = {};
};

/// Reads the token from PCC_JOB_TOKEN. Exit code 12 if it is not 32 hexadecimal
/// digits, or if it is missing and `address` can be reached from other hosts.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
