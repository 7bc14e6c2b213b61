//===- Socket.h - non-blocking sockets and framed connections -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

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
  /// Open directory of a Unix socket whose path is too long for the kernel
  /// (over 107 characters). The socket address then names this directory as
  /// /proc/self/fd/N. Not open for any other address.
  OpenFile folder = {};
};

/// Appends the socket addresses of `address`, at least one, to `found`. Blocks
/// during name resolution. Exit code 12 if the host does not exist.
Status resolve(const Address &address, std::vector<SocketAddress> &found);

/// Opens `listener`, a socket that listens at `address`. A TCP socket is
/// reachable only through the network interface of `address`. There is an
/// exception: in Debian's /etc/hosts, the host's own name resolves to the
/// loopback interface. The socket is then reachable through all interfaces.
///
/// Exit code 12 if another job listens at `address`, or if `address` is not one
/// of this host.
Status listenAt(const Address &address, OpenFile &listener);

/// Begins to connect to `address`, and returns the socket without blocking.
/// When the socket is writable, isConnected() returns whether the connection
/// succeeded. If the attempt fails at once, returns an OpenFile without a file.
OpenFile connectTo(const SocketAddress &address);
/// Returns whether the connection attempt of socket `fd`, which has become
/// writable, succeeded.
bool isConnected(int fd);

/// Returns whether the peer of a Unix socket is a process of this user. Always
/// true for TCP, where the job token authenticates the peer.
bool isOfThisUser(int fd);

/// Enables TCP keep-alive probes on socket `fd`. If the peer's host dies
/// without closing the connection, reads then fail within ten seconds.
void watchHost(int fd);

/// One end of a connection that carries frames in both directions. Never
/// blocks.
class Connection {
public:
  Connection() = default;
  /// Takes ownership of a connected socket.
  explicit Connection(OpenFile socket) : socket(std::move(socket)) {}

  bool isOpen() const { return socket.isOpen(); }
  int fd() const { return socket.fd(); }
  void close() { socket.reset(); }

  /// Sends a frame. Returns false if the kernel's send buffer has no space for
  /// the whole frame: the peer is gone, or has not read for a long time.
  bool send(const Frame &frame);

  /// Reads all bytes that have arrived. Returns false if the peer has closed
  /// the connection. Frames that arrived before can still be removed by take().
  bool receive();
  /// Removes the first frame from the received bytes, if it is complete, and
  /// stores it in `frame`. Returns whether the frame was complete, incomplete
  /// or invalid (Parsed).
  Parsed take(Frame &frame) { return takeFrame(arrived, frame); }

private:
  OpenFile socket;
  /// Received bytes that take() has not removed as frames yet.
  std::string arrived;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
