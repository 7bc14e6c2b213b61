//===- JobToken.cpp - authentication of the ranks of a job ----------------===//

#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <sodium.h>

namespace pcc::runtime {

static const unsigned char *bytesOf(const std::string &text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

std::string JobToken::challenge() {
  [[maybe_unused]] static const int started = sodium_init();
  std::string bytes(kChallengeSize, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

std::string JobToken::proof(Role role, const std::string &serverChallenge,
                            const std::string &clientChallenge,
                            const std::string &said) const {
  // The challenges (random bytes) have a fixed length. Otherwise two different
  // inputs could have the same concatenated text, and thus the same proof.
  const std::string text =
      char(role) + serverChallenge + clientChallenge + said;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytesOf(bytes), bytes.size());
  crypto_auth_hmacsha256_update(&state, bytesOf(text), text.size());
  std::string made(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&state,
                               reinterpret_cast<unsigned char *>(made.data()));
  return made;
}

bool JobToken::areEqual(const std::string &proof, const std::string &other) {
  return proof.size() == other.size() &&
         sodium_memcmp(proof.data(), other.data(), proof.size()) == 0;
}

/// Accepts a missing token for an address that only this host can reach
/// (Address::isLocal()).
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token) {
  const auto found = environment.find(kTokenVariable);
  if (found == environment.end() || found->second.empty()) {
    if (address.isLocal())
      return Status::success();
    return Status::error(
        WrongWorld,
        "ranks that meet at " + address.text() +
            " need a secret that only they know, and PCC_JOB_TOKEN is not set",
        {"set PCC_JOB_TOKEN to the same 32 hexadecimal digits for all ranks, "
         "for instance the output of `openssl rand -hex 16`"});
  }
  token.bytes = fromHex(found->second);
  if (token.bytes.size() != 16)
    // The message must not contain the secret.
    return Status::error(
        WrongWorld, "PCC_JOB_TOKEN is not 32 hexadecimal digits, but " +
                        std::to_string(found->second.size()) + " characters");
  return Status::success();
}

} // namespace pcc::runtime
