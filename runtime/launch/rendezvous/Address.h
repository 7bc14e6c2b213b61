//===- Address.h - where the ranks of a job meet --------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H

#include "runtime/launch/job/RankIdentity.h"

#include <string>

namespace pcc::runtime {

inline constexpr const char *kRendezvousVariable = "PCC_RENDEZVOUS";

/// Where rank 0 listens.
struct Address {
  enum class Kind {
    File, ///< a socket in the file system
    Name, ///< a socket of this host's kernel, which has a name but no file
    Tcp,
  };
  Kind kind = Kind::Name;
  std::string place; ///< path, name or host
  int port = 0;      ///< of Kind::Tcp

  /// "tcp://node7:61440", "unix:/run/job/meet", "unix:@pcc-1000-slurm-17.0".
  std::string text() const;
  /// Whether only processes of this host, or of this user, can get there.
  bool isLocal() const;
};

/// "tcp://HOST:PORT", "tcp://[::1]:PORT", "unix:PATH" or "unix:@NAME"; exit
/// code 12 otherwise.
Status readAddress(const std::string &text, Address &address);

/// The same for all ranks of a job, from the first of these that is there:
///
///   PCC_RENDEZVOUS                what the user says
///   all ranks on one host         a name of this host: no port, no token
///   MASTER_ADDR, MASTER_PORT      torchrun, and scripts that do as it does
///   Open MPI's own address        mpirun's host; port 61440 + job % 4096
///   Slurm's node list             its first host; port 61440 + job % 4096
///
/// Exit code 12 if none of them is, or if what is there cannot be read.
Status findAddress(const Environment &environment, const RankIdentity &identity,
                   Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
