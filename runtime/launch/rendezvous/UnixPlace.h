//===- UnixPlace.h - names of Unix sockets that nobody can take before ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <vector>

namespace pcc::runtime {

/// Converts a path or an abstract name to a socket address. Exit code 12 if the
/// name is too long.
Status resolveUnix(const Address &place, SocketAddress &found);

/// Returns a new address for rank 0 to listen: `address` with random digits
/// after its path or name.
Address chooseUnix(const Address &address);

/// Returns the addresses of all existing Unix sockets at which rank 0 may
/// listen. Rank 0 appends a hyphen and 16 random hexadecimal digits to
/// `address`. For example, it listens at "/tmp/meet-0123456789abcdef" if
/// `address` is "/tmp/meet". Another user can create a socket of this form too,
/// so the caller must check the user.
std::vector<SocketAddress> findUnix(const Address &address);

/// Deletes socket files that killed processes have left for `address`. Exit
/// code 12 if other users may delete files in the folder.
Status prepareUnix(const Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H
