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
  /// Location of the socket. The member `kind` determines the meaning:
  ///
  /// - Kind::File: path of a Unix socket, such as "/run/job/meet".
  /// - Kind::Name: name of an abstract Unix socket, such as
  ///   "pcc-1000-slurm-17.0". The socket has a name, but no file.
  /// - Kind::Tcp: host name or IP address, such as "node7" or "::1".
  std::string place;
  /// TCP port; used for Kind::Tcp only.
  int port = 0;

  /// Returns the address as text that readAddress() parses, such as
  /// "tcp://node7:61440", "unix:/run/job/meet" or "unix:@pcc-1000-slurm-17.0".
  std::string text() const;
  /// Returns true if this is a TCP address with the host "localhost", the host
  /// "::1", or a host that begins with "127.". Only processes on the same host
  /// can connect to such an address. Returns false for all other TCP addresses
  /// and for Unix sockets.
  bool isLoopback() const;
};

/// Parses `text` and stores the result in `address`. `text` must have one of
/// these forms:
///
/// - "tcp://HOST:PORT": a TCP socket. HOST is a host name or an IP address. An
///   IPv6 address has brackets, as in "tcp://[::1]:61440". PORT is a number
///   from 1 to 65535.
/// - "unix:PATH": a Unix socket with the path PATH in the file system.
/// - "unix:@NAME": an abstract Unix socket with the name NAME. An abstract
///   socket has no file.
///
/// Returns an error with exit code 12 if `text` has another form.
Status readAddress(const std::string &text, Address &address);

/// Sets `address` to the address at which rank 0 listens. All ranks of a job
/// compute the same address. The first source that is present determines it:
///
/// 1. PCC_RENDEZVOUS, which contains the address itself.
/// 2. MASTER_ADDR and MASTER_PORT. With torchrun, the TCP port is 61440 +
///    MASTER_PORT % 4096, because torchrun may listen at MASTER_PORT.
/// 3. The variables of Open MPI, if mpirun has started this process.
/// 4. The variables of Slurm, if srun has started this process.
///
/// In cases 2 to 4, the address is an abstract Unix socket if all ranks are on
/// one host, and a TCP address otherwise. TCP needs the secret PCC_JOB_TOKEN.
/// Returns exit code 12 if no source is present or a value is invalid.
Status findAddress(const Environment &environment, const RankIdentity &identity,
                   Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_ADDRESS_H
