//===- JobToken.cpp - secret that the ranks of a job share ----------------===//

#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <algorithm>

namespace pcc::runtime {

/// Number of bytes of the secret that the ranks of a job share. The secret is
/// called the token of the job.
static constexpr size_t kTokenSize = 16;

/// Returns the value of an environment variable; empty if it is not set.
static std::string valueOf(const Environment &environment, const char *name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

/// Returns the random key that Open MPI gives to every process of a job. The
/// key has 16 bytes. `environment` contains the environment variables of this
/// process. The variable OMPI_MCA_orte_precondition_transports contains the key
/// as 32 hexadecimal digits with a hyphen in the middle, such as
/// "0123456789abcdef-fedcba9876543210". Returns an empty string if the variable
/// is not set, or if its value without hyphens is not 32 hexadecimal digits.
static std::string keyOfOpenMpi(const Environment &environment) {
  std::string digits =
      valueOf(environment, "OMPI_MCA_orte_precondition_transports");
  std::erase(digits, '-');
  const std::string key = fromHex(digits);
  return key.size() == kTokenSize ? key : "";
}

Status findToken(const Environment &environment, const Address &address,
                 JobToken &token) {
  const std::string digits = valueOf(environment, kTokenVariable);
  if (digits.empty() && address.kind == Address::Kind::Tcp)
    return Status::error(
        WrongWorld,
        "ranks that meet at " + address.text() +
            " need a secret that only they know, and PCC_JOB_TOKEN is not set",
        {"set PCC_JOB_TOKEN to the same 32 hexadecimal digits for all ranks, "
         "for instance: export PCC_JOB_TOKEN=$(openssl rand -hex 16)"});
  token.bytes = digits.empty() ? keyOfOpenMpi(environment) : fromHex(digits);
  if (!digits.empty() && token.bytes.size() != kTokenSize)
    // The message must not contain the secret.
    return Status::error(WrongWorld,
                         "PCC_JOB_TOKEN is not 32 hexadecimal digits, but " +
                             std::to_string(digits.size()) + " characters");
  return Status::success();
}

} // namespace pcc::runtime
