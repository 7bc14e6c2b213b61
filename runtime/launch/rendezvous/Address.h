//===- Address.h - address at which the ranks of a job meet ---------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H

#include "runtime/launch/job/JobVariables.h"
#include "runtime/launch/job/RankIdentity.h"

#include <string>

namespace pcc::runtime {

/// The address at which rank 0 listens and to which all other ranks connect at
/// start-up.
struct Address {
  /// Kind of socket.
  enum class Kind {
    /// A Unix socket with a path in the file system.
    File,
    /// A Unix socket in Linux's abstract namespace: visible on this host only,
    /// without a file.
    Name,
    /// A TCP socket.
    Tcp,
  };
  Kind kind = Kind::Name;
  /// The socket's path, its abstract name, or the host, depending on the kind.
  std::string place;
  /// TCP port; used for Kind::Tcp only.
  int port = 0;

  /// Returns the address as text that readAddress() parses, such as
  /// "tcp://node7:61440", "unix:/run/job/meet" or "unix:@pcc-1000-slurm-17.0".
  std::string text() const;
  /// Returns whether the host is a loopback address, which only processes of
  /// this host can reach. False for Unix sockets.
  bool isLoopback() const;
};

/// Parses "tcp://HOST:PORT", "tcp://[::1]:PORT", "unix:PATH" or "unix:@NAME";
/// exit code 12 for any other text.
Status readAddress(const std::string &text, Address &address);

/// Sets `address` from the environment variables; all ranks of a job get the
/// same address. Uses the first of these sources that is present:
///
///   PCC_RENDEZVOUS                the address that the user gives
///   MASTER_ADDR, MASTER_PORT      set by torchrun or by similar scripts
///   Open MPI's own address        mpirun's host; port from the job number
///   Slurm's node list             its first host; port from the job number
///
/// If all ranks are on one host, the last three sources give an abstract Unix
/// name (a socket without a file) instead. A name needs no free port and no job
/// token (secret). Exit code 12 if there is no valid source.
Status findAddress(const Environment &environment, const RankIdentity &identity,
                   Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
