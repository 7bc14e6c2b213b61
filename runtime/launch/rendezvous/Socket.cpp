//===- Socket.cpp - non-blocking Unix and TCP sockets ---------------------===//

#include "runtime/launch/rendezvous/Socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace pcc::runtime {

void OpenFile::reset() {
  if (number >= 0)
    ::close(number);
  number = -1;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static sockaddr_in &inV4(sockaddr_storage &storage) {
  return reinterpret_cast<sockaddr_in &>(storage);
}
static sockaddr_in6 &inV6(sockaddr_storage &storage) {
  return reinterpret_cast<sockaddr_in6 &>(storage);
}

/// Returns the IP address and the port of `address` as bytes, if the IP address
/// is a loopback address (127.0.0.0/8 or ::1). Returns an empty string for any
/// other address. For example, address 127.0.0.1 with port 80 gives the bytes
/// 127, 0, 0, 1, 0, 80. An IPv4 address in IPv6 form, such as ::ffff:127.0.0.1,
/// gives the same bytes as the IPv4 address.
static std::string loopbackEnd(const sockaddr_storage &address) {
  sockaddr_storage storage = address;
  const char *host = nullptr;
  size_t size = 4;
  in_port_t port = 0;
  if (storage.ss_family == AF_INET) {
    host = reinterpret_cast<const char *>(&inV4(storage).sin_addr);
    port = inV4(storage).sin_port;
  } else if (storage.ss_family == AF_INET6) {
    const in6_addr &whole = inV6(storage).sin6_addr;
    const bool isV4 = IN6_IS_ADDR_V4MAPPED(&whole);
    size = isV4 ? 4 : 16;
    host = reinterpret_cast<const char *>(&whole) + (isV4 ? 12 : 0);
    port = inV6(storage).sin6_port;
    if (!isV4 && !IN6_IS_ADDR_LOOPBACK(&whole))
      return "";
  }
  if (!host || (size == 4 && host[0] != 127))
    return "";
  return std::string(host, size) +
         std::string(reinterpret_cast<const char *>(&port), sizeof port);
}

bool SocketAddress::isLoopback() const { return !loopbackEnd(storage).empty(); }

SocketAddress SocketAddress::withPort(int port) const {
  SocketAddress made{storage, length};
  if (storage.ss_family == AF_INET6)
    inV6(made.storage).sin6_port = htons(uint16_t(port));
  else
    inV4(made.storage).sin_port = htons(uint16_t(port));
  return made;
}

SocketAddress SocketAddress::withAnyHost() const {
  SocketAddress made{storage, length};
  if (storage.ss_family == AF_INET6)
    inV6(made.storage).sin6_addr = in6addr_any;
  else
    inV4(made.storage).sin_addr.s_addr = htonl(INADDR_ANY);
  return made;
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

OpenFile makeSocket(const SocketAddress &address) {
  OpenFile made(socket(address.storage.ss_family,
                       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (made.isOpen() && address.storage.ss_family != AF_UNIX) {
    setsockopt(made.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(made.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return made;
}

OpenFile withHighNumber(OpenFile made) {
  // Most processes may open files with numbers less than 1024.
  constexpr int lowest = 768;
  OpenFile moved(fcntl(made.fd(), F_DUPFD_CLOEXEC, lowest));
  return moved.isOpen() ? std::move(moved) : std::move(made);
}

OpenFile connectTo(const SocketAddress &address) {
  OpenFile made = withHighNumber(makeSocket(address));
  if (made.isOpen() &&
      connect(made.fd(), address.generic(), address.length) != 0 &&
      errno != EINPROGRESS)
    made.reset();
  return made;
}

bool isConnected(int fd) {
  int problem = 0;
  socklen_t length = sizeof problem;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 &&
         problem == 0;
}

bool isOfThisUser(int fd) {
  int domain = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
      domain != AF_UNIX)
    return true;
  ucred peer = {};
  length = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == geteuid();
}

std::string routeOf(int fd, bool isServer) {
  sockaddr_storage own = {}, peer = {};
  socklen_t ownLength = sizeof own, peerLength = sizeof peer;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&own), &ownLength) != 0 ||
      getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &peerLength) != 0)
    return "";
  const std::string mine = loopbackEnd(own), others = loopbackEnd(peer);
  if (mine.empty() || others.empty())
    return "";
  return isServer ? others + mine : mine + others;
}

void watchHost(int fd) {
  const auto set = [fd](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, 5);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);
}

} // namespace pcc::runtime
