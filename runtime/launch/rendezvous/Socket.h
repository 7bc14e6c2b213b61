//===- Socket.h - non-blocking Unix and TCP sockets -----------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H

#include <string>
#include <sys/socket.h>
#include <utility>

namespace pcc::runtime {

/// Owns a file descriptor, which the destructor closes. Movable.
class OpenFile {
public:
  OpenFile() = default;
  /// Takes ownership of file descriptor `fd`. A negative number means that
  /// there is no file.
  explicit OpenFile(int fd) : number(fd) {}
  OpenFile(OpenFile &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~OpenFile() { reset(); }

  /// Closes the file descriptor, if it is open.
  void reset();
  int fd() const { return number; }
  bool isOpen() const { return number >= 0; }

private:
  int number = -1;
};

/// Address of a socket, as a sockaddr of the socket API.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  /// Open directory that contains the file of a Unix socket. The kernel rejects
  /// a Unix socket whose path has more than 107 characters. If the path is
  /// longer, `storage` contains a shorter path through the open directory. For
  /// example, if the directory has file descriptor 5, the shorter path of the
  /// file "meet" in this directory is "/proc/self/fd/5/meet". The shorter path
  /// is valid only while the directory is open. `folder` is not open if the
  /// address is an IP address or has a short path.
  OpenFile folder = {};

  /// Returns a pointer to `storage`. The pointer has the type that the system
  /// functions bind() and connect() require.
  const sockaddr *generic() const {
    return reinterpret_cast<const sockaddr *>(&storage);
  }
  /// Returns whether this is an IP address of the loopback interface.
  bool isLoopback() const;
  /// Returns this IP address with another port. Must not be called for Unix
  /// sockets.
  SocketAddress withPort(int port) const;
  /// Returns this IP address with the host 0.0.0.0 (IPv4) or :: (IPv6), and
  /// with the same port. A socket that listens at such an address accepts
  /// connections on all network interfaces. For example, 127.0.0.1 with port 80
  /// gives 0.0.0.0 with port 80. Must not be called for Unix sockets.
  SocketAddress withAnyHost() const;
};

/// Creates a non-blocking socket for connections from or to `address`. TCP
/// sockets have SO_REUSEADDR and TCP_NODELAY.
OpenFile makeSocket(const SocketAddress &address);

/// Returns the socket `made` with a file descriptor above those of most other
/// files. If a process is killed, the kernel closes its files from the highest
/// number to the lowest. Closing the files of a GPU takes seconds, because the
/// GPU's memory is released. The peers of a socket with a high number see
/// before this that the process has ended. Returns `made` unchanged if the
/// process may not open files with such numbers.
OpenFile withHighNumber(OpenFile made);

/// Begins to connect to `address`, and returns the socket without blocking. The
/// socket has a high number, as from withHighNumber().
/// When the socket is writable, isConnected() returns the result. If the
/// attempt fails at once, returns an OpenFile without a file.
OpenFile connectTo(const SocketAddress &address);
/// Returns whether the connection attempt of socket `fd`, which has become
/// writable, succeeded.
bool isConnected(int fd);

/// Returns whether the peer of the Unix socket `fd` is a process of this user.
/// Always returns true for a TCP socket, because the kernel does not know the
/// user of a TCP peer. A TCP peer must prove by other means that it belongs to
/// the job: it must know the secret of the job.
bool isOfThisUser(int fd);

/// Returns the IP addresses and the ports of both ends of the TCP connection
/// `fd` as bytes, if both addresses are loopback addresses. Otherwise, returns
/// an empty string. The end that has opened the connection comes first.
/// `isServer` is true if this process has accepted the connection, and false if
/// it has opened the connection.
///
/// Both ranks of a connection call this function, and derive the keys of the
/// connection from the result. If the ranks are connected directly, both get
/// the same bytes. If another process on this host relays the connection, the
/// ranks get different bytes and derive different keys. The handshake then
/// fails.
std::string routeOf(int fd, bool isServer);

/// Enables TCP keep-alive probes on socket `fd`. If the peer's host dies, reads
/// fail within ten seconds.
void watchHost(int fd);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
