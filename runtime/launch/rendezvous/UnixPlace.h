//===- UnixPlace.h - names of Unix sockets that nobody can take before ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <vector>

namespace pcc::runtime {

/// Converts `place`, the address of a Unix socket, to the sockaddr that bind(2)
/// and connect(2) need, and stores the result in `found`. `place` is a path in
/// the file system, or the name of an abstract socket. An abstract socket has a
/// name but no file. Returns an error with exit code 12 in two cases:
///
/// - The name of the abstract socket has more than 107 characters.
/// - The path has more than 107 characters, and the file name at its end has
///   more than about 90 characters.
Status resolveUnix(const Address &place, SocketAddress &found);

/// Returns a new address of a Unix socket, at which rank 0 can listen. Appends
/// a hyphen and 16 random hexadecimal digits to `address`. For example, the
/// path "/tmp/meet" becomes "/tmp/meet-0123456789abcdef". `address` can also be
/// the name of an abstract socket, which has a name but no file. For example,
/// the name "job7" becomes "job7-0123456789abcdef".
Address chooseUnix(const Address &address);

/// Returns the addresses of all existing Unix sockets at which rank 0 may
/// listen. Rank 0 appends a hyphen and 16 random hexadecimal digits to
/// `address`. For example, it listens at "/tmp/meet-0123456789abcdef" if
/// `address` is "/tmp/meet".
///
/// A process of another user can listen at a socket whose name has this form.
/// After the caller has connected to a socket, the caller must therefore call
/// isOfThisUser(). isOfThisUser() returns whether the process that listens
/// belongs to the user of the caller.
std::vector<SocketAddress> findUnix(const Address &address);

/// Prepares the folder in which rank 0 creates the file of its Unix socket. For
/// example, if `address` is the path "/tmp/meet", the file is
/// "/tmp/meet-0123456789abcdef", with 16 random hexadecimal digits. If the
/// process of rank 0 is killed, the file of its socket remains. Deletes each
/// file of this form that is a socket at which no process listens.
///
/// Returns an error with exit code 12 if all users may delete the files of
/// other users in the folder. This is true for a folder with the mode 777, but
/// not for a folder with the mode 1777, such as "/tmp". Does nothing if
/// `address` is the name of an abstract socket. An abstract socket has a name
/// but no file.
Status prepareUnix(const Address &address);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNIXPLACE_H
