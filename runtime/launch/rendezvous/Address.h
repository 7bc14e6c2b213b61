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
    /// without a file, and gone when rank 0 ends.
    Name,
    /// A TCP socket.
    Tcp,
  };
  Kind kind = Kind::Name;
  /// Where to listen or connect: the socket's path, its abstract name, or the
  /// host, depending on the kind.
  std::string place;
  /// TCP port; used for Kind::Tcp only.
  int port = 0;

  /// Returns the address as text that readAddress() parses, such as
  /// "tcp://node7:61440", "unix:/run/job/meet" or "unix:@pcc-1000-slurm-17.0".
  std::string text() const;
  /// Returns whether the host is one of the loopback interface, so that only
  /// processes of this host can reach the address; false for Unix sockets.
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
///   Open MPI's own address        mpirun's host; port 61440 + job % 4096
///   Slurm's node list             its first host; port 61440 + job % 4096
///
/// If all ranks are on one host, the TCP address of any source except
/// PCC_RENDEZVOUS is replaced by an abstract Unix name. An abstract name needs
/// neither a free port nor a job token, and is the beginning of the name at
/// which rank 0 listens (MeetingPlace.h). All ranks are on one host if the
/// launcher's variables show this, or if MASTER_ADDR is a loopback address.
/// Exit code 12 if there is no source, or if it cannot be parsed.
Status findAddress(const Environment &environment, const RankIdentity &identity,
                   Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
