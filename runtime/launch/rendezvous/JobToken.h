//===- JobToken.h - the secret that the ranks of a job share --------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H

#include "runtime/launch/rendezvous/Address.h"

#include <string>

namespace pcc::runtime {

inline constexpr const char *kTokenVariable = "PCC_JOB_TOKEN";

/// Both ends of a connection prove that they know the token without saying it:
/// each sends random bytes, and the other a keyed hash (HMAC-SHA-256) of both
/// ends' bytes. What was recorded of another connection proves nothing.
class JobToken {
public:
  /// 32 random bytes.
  static std::string challenge();

  /// Who says it: an end cannot be answered with its own proof.
  enum class Role : char { Server = 'h', Client = 'g' };

  /// The proof of `role`, 32 bytes, which also covers `said`.
  std::string proof(Role role, const std::string &serverChallenge,
                    const std::string &clientChallenge,
                    const std::string &said) const;
  /// Takes as long for every wrong one.
  static bool areEqual(const std::string &proof, const std::string &other);

  /// 16 bytes, or none where the kernel says who connects.
  std::string bytes = {};
};

/// PCC_JOB_TOKEN; exit code 12 if it is not 32 hexadecimal digits, or if the
/// address can be reached from other hosts and there is none.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
