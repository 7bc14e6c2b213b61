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

/// Owner of a file descriptor, which the destructor closes. Movable.
class OpenFile {
public:
  OpenFile() = default;
  /// Takes ownership of `fd`; negative: no file.
  explicit OpenFile(int fd) : number(fd) {}
  OpenFile(OpenFile &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~OpenFile() { reset(); }

  /// Closes the file, if it is open.
  void reset();
  int fd() const { return number; }
  bool isOpen() const { return number >= 0; }

private:
  int number = -1;
};

/// An address in the form of the socket API.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  /// The directory of a Unix socket whose path exceeds the kernel's limit (107
  /// characters). The address then refers to the directory through
  /// /proc/self/fd.
  OpenFile folder = {};
};

/// Resolves `address` to at least one socket address. Blocks while name servers
/// are asked. Exit code 12 if the host does not exist.
Status resolve(const Address &address, std::vector<SocketAddress> &found);

/// Listens at `address`. With TCP, only the address's own interface accepts
/// connections; if the host's name resolves to the loopback interface, as
/// Debian's /etc/hosts has it, all interfaces do. Exit code 12 if another job
/// listens there, or if the address is not of this host.
Status listenAt(const Address &address, OpenFile &listener);

/// Begins to connect without blocking; isConnected() tells the result once the
/// socket is writable. Returns a closed file if nobody listens.
OpenFile connectTo(const SocketAddress &address);
/// Returns whether a socket that has become writable is connected.
bool isConnected(int fd);

/// Returns whether the peer of a Unix socket is a process of this user. Always
/// true for TCP, where the job token authenticates the peer.
bool isOfThisUser(int fd);

/// Enables keep-alive probes: if the peer's host dies without closing the
/// connection, reads fail within ten seconds.
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

  /// Sends a frame. Returns false if the kernel cannot take all of it at once:
  /// the peer is gone, or has not read for a long time.
  bool send(const Frame &frame);

  /// Reads all bytes that have arrived. Returns false if the peer has closed
  /// the connection; frames that arrived before can still be taken.
  bool receive();
  /// Removes the first frame that has arrived.
  Parsed take(Frame &frame) { return takeFrame(arrived, frame); }

private:
  OpenFile socket;
  /// Received bytes that do not belong to a taken frame.
  std::string arrived;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
