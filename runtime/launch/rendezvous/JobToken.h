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

/// Sets `token` to the secret of a job whose rank 0 listens at `address`. Uses
/// the first source that is present:
///
///   PCC_JOB_TOKEN                        32 hexadecimal digits; `pcc run` and
///                                        BUNDLE/run set it for ranks that they
///                                        start
///   OMPI_MCA_orte_precondition_transports  the random key that Open MPI gives
///                                        every process of a job; for Unix
///                                        sockets only
///
/// If there is no source, a Unix socket gets an empty token, and a TCP address
/// gives exit code 12. A malformed PCC_JOB_TOKEN also gives exit code 12.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
