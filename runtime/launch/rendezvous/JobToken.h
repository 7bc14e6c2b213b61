//===- JobToken.h - secret that the ranks of a job share ------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H

#include "runtime/launch/rendezvous/Address.h"

#include <string>

namespace pcc::runtime {

/// The secret that the ranks of a job share. The keys of all connections
/// between ranks derive from it (Handshake.h). It is never sent.
struct JobToken {
  /// The secret, 16 bytes. It may be empty for a Unix socket, where the kernel
  /// tells that the peer is a process of the same user.
  std::string bytes = {};
};

/// Sets `token` to the secret of the job. Uses the first source that is
/// present:
///
///   PCC_JOB_TOKEN                        32 hexadecimal digits; `pcc run` and
///                                        BUNDLE/run set it for ranks that they
///                                        start
///   OMPI_MCA_orte_precondition_transports  the random key that Open MPI gives
///                                        every process of a job; for Unix
///                                        sockets only
///
/// Without a source, the token of a Unix socket is empty. Exit code 12 if
/// PCC_JOB_TOKEN is malformed, or if it is missing and `address` is a TCP
/// address, also one of this host.
Status findToken(const Environment &environment, const Address &address,
                 JobToken &token);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_JOBTOKEN_H
