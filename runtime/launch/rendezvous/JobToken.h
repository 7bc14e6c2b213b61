//===- JobToken.h - secret that the ranks of a job share ------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H

#include "runtime/launch/rendezvous/Address.h"

#include <string>

namespace pcc::runtime {

/// The secret that the ranks of a job share. The keys of all connections
/// between ranks derive from it (Handshake.h). It is never sent.
struct JobToken {
  /// The secret of the job, which has 16 bytes. The secret may be empty only if
  /// the ranks connect by Unix sockets. For a Unix socket, the kernel reports
  /// which user owns the process at the other end. The ranks accept only
  /// processes of their own user, so they do not need a secret.
  std::string bytes = {};
};

/// Sets `token` to the secret of a job: the value of PCC_JOB_TOKEN, 32
/// hexadecimal digits. `pcc run` and the program `run` of a bundle set this
/// variable for their ranks. `address` is the address at which rank 0 listens.
/// If PCC_JOB_TOKEN is not set and `address` is a Unix socket, the secret is
/// the random key that Open MPI gives to a job. If there is no such key,
/// `token` becomes empty. Returns an error with exit code 12 if PCC_JOB_TOKEN
/// is invalid, or is not set for a TCP address.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
