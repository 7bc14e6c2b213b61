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

/// Sets `token` to the secret of a job. `address` is the address at which rank
/// 0 of the job listens. `environment` contains the environment variables of
/// this process. The first of these variables that is set determines the
/// secret:
///
/// 1. PCC_JOB_TOKEN: The value is the secret as 32 hexadecimal digits. Two
///    programs set this variable for the ranks that they start: `pcc run`, and
///    the program `run` in a bundle.
/// 2. OMPI_MCA_orte_precondition_transports: The value is a random key that
///    Open MPI gives to every process of a job. The function uses this variable
///    only if `address` is a Unix socket.
///
/// If no variable is set and `address` is a Unix socket, `token` becomes empty.
/// Returns an error with exit code 12 in these cases:
///
/// - `address` is a TCP address, and PCC_JOB_TOKEN is not set.
/// - The value of PCC_JOB_TOKEN is not 32 hexadecimal digits.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
