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

/// An address in the form that the socket API requires.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  /// Open directory of a Unix socket whose path exceeds the kernel's limit of
  /// 107 characters. The address names it as /proc/self/fd/N. Not open for
  /// other addresses.
  OpenFile folder = {};

  /// Returns the address as the parameter of bind() and connect().
  const sockaddr *generic() const {
    return reinterpret_cast<const sockaddr *>(&storage);
  }
  /// Returns whether this is an IP address of the loopback interface.
  bool isLoopback() const;
  /// Returns this IP address with another port. Must not be called for Unix
  /// sockets.
  SocketAddress withPort(int port) const;
  /// Returns this IP address with the wildcard host (0.0.0.0 or ::), which
  /// means all interfaces.
  SocketAddress withAnyHost() const;
};

/// Creates a non-blocking socket for connections from or to `address`. TCP
/// sockets have SO_REUSEADDR and TCP_NODELAY.
OpenFile makeSocket(const SocketAddress &address);

/// Begins to connect to `address`, and returns the socket without blocking.
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

/// Returns addresses and ports of both ends of a loopback TCP connection as
/// bytes, the connecting end first. `isServer` is true at the accepting end.
/// Both ends get the same bytes, unless another process relays the connection.
/// Returns an empty text for all other connections.
std::string routeOf(int fd, bool isServer);

/// Enables TCP keep-alive probes on socket `fd`. If the peer's host dies, reads
/// fail within ten seconds.
void watchHost(int fd);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
