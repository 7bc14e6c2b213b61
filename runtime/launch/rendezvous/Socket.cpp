//===- Socket.cpp - non-blocking sockets and framed connections -----------===//

#include "runtime/launch/rendezvous/Socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

namespace pcc::runtime {

void OpenFile::reset() {
  if (number >= 0)
    ::close(number);
  number = -1;
}

static const sockaddr *generic(const SocketAddress &address) {
  return reinterpret_cast<const sockaddr *>(&address.storage);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Returns a path for a Unix socket of at most 107 characters, the kernel's
/// limit. If `path` is longer, opens its directory as `folder`, and returns a
/// path relative to that directory (/proc/self/fd/N/NAME).
static std::string shorten(const std::string &path, OpenFile &folder) {
  if (path.size() < sizeof sockaddr_un().sun_path)
    return path;
  const size_t slash = path.rfind('/');
  folder = OpenFile(
      open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return "/proc/self/fd/" + std::to_string(folder.fd()) + path.substr(slash);
}

/// Converts a path or an abstract name to a Unix socket address.
static Status resolveUnix(const Address &address, SocketAddress &found) {
  const bool isFile = address.kind == Address::Kind::File;
  const std::string text =
      isFile ? shorten(address.place, found.folder) : address.place;
  auto &unixAddress = reinterpret_cast<sockaddr_un &>(found.storage);
  if (text.size() + 1 > sizeof unixAddress.sun_path)
    return Status::error(WrongWorld,
                         "the address " + address.text() + " is too long");
  unixAddress.sun_family = AF_UNIX;
  // An abstract name begins with a zero byte, and has none at its end.
  std::memcpy(unixAddress.sun_path + (isFile ? 0 : 1), text.data(),
              text.size());
  found.length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return Status::success();
}

/// Resolves a host to all its IPv4 and IPv6 addresses.
static Status resolveTcp(const Address &address,
                         std::vector<SocketAddress> &found) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo *list = nullptr;
  const int problem =
      getaddrinfo(address.place.c_str(), std::to_string(address.port).c_str(),
                  &wanted, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list,
                                                                 freeaddrinfo);
  if (problem != 0)
    return Status::error(WrongWorld, "ranks meet at " + address.text() +
                                         ", but there is no host " +
                                         address.place + ": " +
                                         gai_strerror(problem));
  for (const addrinfo *entry = list; entry; entry = entry->ai_next) {
    SocketAddress one;
    std::memcpy(&one.storage, entry->ai_addr, entry->ai_addrlen);
    one.length = entry->ai_addrlen;
    found.push_back(std::move(one));
  }
  return Status::success();
}

Status resolve(const Address &address, std::vector<SocketAddress> &found) {
  found.clear();
  if (address.kind == Address::Kind::Tcp)
    return resolveTcp(address, found);
  return resolveUnix(address, found.emplace_back());
}

//===----------------------------------------------------------------------===//
// Listening and connecting
//===----------------------------------------------------------------------===//

/// Creates a non-blocking socket. A TCP socket may reuse the port of a recently
/// closed socket (SO_REUSEADDR), and sends small frames at once (TCP_NODELAY).
static OpenFile makeSocket(const SocketAddress &address) {
  OpenFile made(socket(address.storage.ss_family,
                       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (made.isOpen() && address.storage.ss_family != AF_UNIX) {
    setsockopt(made.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(made.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return made;
}

/// Returns whether `address` is an IP address of the loopback interface.
static bool isLoopback(const SocketAddress &address) {
  if (address.storage.ss_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(
        &reinterpret_cast<const sockaddr_in6 &>(address.storage).sin6_addr);
  return address.storage.ss_family == AF_INET &&
         ntohl(reinterpret_cast<const sockaddr_in &>(address.storage)
                   .sin_addr.s_addr) >>
                 24 ==
             127;
}

/// Replaces an IP address by the wildcard address (0.0.0.0 or ::), which stands
/// for all interfaces.
static void widen(SocketAddress &address) {
  if (address.storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6 &>(address.storage).sin6_addr = in6addr_any;
  else
    reinterpret_cast<sockaddr_in &>(address.storage).sin_addr.s_addr =
        htonl(INADDR_ANY);
}

/// Opens `listener`, a socket that listens at one address. Returns 0, or the
/// errno of the failure.
static int listenThere(const SocketAddress &address, OpenFile &listener) {
  listener = makeSocket(address);
  const bool listens =
      listener.isOpen() &&
      bind(listener.fd(), generic(address), address.length) == 0 &&
      listen(listener.fd(), SOMAXCONN) == 0;
  return listens ? 0 : errno;
}

/// Deletes the socket file at `address` if no process listens there; a killed
/// process leaves such a file. Returns whether the file was deleted.
static bool removeStale(const Address &address, const SocketAddress &there) {
  if (address.kind != Address::Kind::File)
    return false;
  const OpenFile probe = makeSocket(there);
  return connect(probe.fd(), generic(there), there.length) != 0 &&
         errno == ECONNREFUSED && unlink(address.place.c_str()) == 0;
}

/// Returns the error (exit code 12) for a rank that cannot listen at `address`,
/// with advice for the usual causes. `reason` is an errno.
static Status cannotListen(const Address &address, int reason) {
  const std::string text = address.text();
  if (reason == EADDRINUSE)
    return Status::error(WrongWorld,
                         "rank 0 cannot listen at " + text +
                             ": the address is in use, perhaps by another job",
                         {"PCC_RENDEZVOUS names another address"});
  if (reason == EADDRNOTAVAIL)
    return Status::error(WrongWorld,
                         "ranks meet at " + text +
                             ", which is not the host of rank 0",
                         {"set PCC_RENDEZVOUS to tcp://HOST:PORT, with the "
                          "host of rank 0"});
  return Status::error(WrongWorld, "rank 0 cannot listen at " + text + ": " +
                                       std::strerror(reason));
}

/// Tries to listen at each resolved address until one attempt succeeds. If a
/// dead process has left a socket file, deletes the file and tries again once.
Status listenAt(const Address &address, OpenFile &listener) {
  std::vector<SocketAddress> found;
  PCC_RETURN_IF_ERROR(resolve(address, found));
  int reason = 0;
  for (SocketAddress &there : found) {
    if (!address.isLocal() && isLoopback(there))
      widen(there);
    reason = listenThere(there, listener);
    if (reason == EADDRINUSE && removeStale(address, there))
      reason = listenThere(there, listener);
    if (reason == 0)
      return Status::success();
  }
  return cannotListen(address, reason);
}

OpenFile connectTo(const SocketAddress &address) {
  OpenFile made = makeSocket(address);
  if (made.isOpen() &&
      connect(made.fd(), generic(address), address.length) != 0 &&
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

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

// Sends a frame without buffering. Frames are few and short, and the monitor
// thread of the peer always reads. A frame that does not fit into the kernel's
// buffer therefore means that the peer hangs.
bool Connection::send(const Frame &frame) {
  const std::string bytes = encodeFrame(frame);
  return socket.isOpen() &&
         ::send(socket.fd(), bytes.data(), bytes.size(),
                MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t(bytes.size());
}

bool Connection::receive() {
  char buffer[4096];
  // Limit the received bytes that are kept, because the peer may not have
  // completed its handshake and could fill the memory.
  while (arrived.size() <= 2 * kLongestPayload) {
    const ssize_t size = recv(socket.fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return size < 0 && errno == EAGAIN;
    arrived.append(buffer, size_t(size));
  }
  return true;
}

} // namespace pcc::runtime
