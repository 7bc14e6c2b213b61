//===- Socket.h - sockets that never block --------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// An open file that ends with this.
class OpenFile {
public:
  OpenFile() = default;
  explicit OpenFile(int fd) : number(fd) {}
  OpenFile(OpenFile &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~OpenFile() { reset(); }

  void reset();
  int fd() const { return number; }
  bool isOpen() const { return number >= 0; }

private:
  int number = -1;
};

/// What an address means to the kernel.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  OpenFile folder = {}; ///< of a path that is too long for the kernel
};

/// Every way to `address`, at least one; exit code 12 if there is no such host,
/// which may take as long as name servers do.
Status resolve(const Address &address, std::vector<SocketAddress> &found);

/// Listens at `address`. With TCP only on that address of this host; where its
/// own name stands for the loopback, as Debian has it in /etc/hosts, on all.
/// Exit code 12 if another job listens there, or if it is not this host's.
Status listenAt(const Address &address, OpenFile &listener);

/// Begins to connect; isConnected() says how that went. Not open if nobody
/// listens there.
OpenFile connectTo(const SocketAddress &address);
/// Of a socket that has become writable.
bool isConnected(int fd);

/// Of a socket of this host: whether the other end is a process of this user.
/// Of others, that is what the token is for.
bool isOfThisUser(int fd);

/// Notices within ten seconds that the other host is gone: it says nothing any
/// more then.
void watchHost(int fd);

/// One end of a connection: frames in both directions.
class Connection {
public:
  Connection() = default;
  explicit Connection(OpenFile socket) : socket(std::move(socket)) {}

  bool isOpen() const { return socket.isOpen(); }
  int fd() const { return socket.fd(); }
  void close() { socket.reset(); }

  /// False if it cannot be sent at once: the other end is gone, or it has not
  /// read for a long time.
  bool send(const Frame &frame);

  /// Reads what has arrived. False if the other end has closed: what it has
  /// sent before can still be taken.
  bool receive();
  Parsed take(Frame &frame) { return takeFrame(arrived, frame); }

private:
  OpenFile socket;
  std::string arrived;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKET_H
