//===- Connection.cpp - connection that carries frames between two ranks --===//

#include "runtime/launch/rendezvous/Connection.h"

#include <cerrno>

namespace pcc::runtime {

/// Reads about two frames at most, so that a fast peer does not fill the
/// memory.
bool Connection::receive() {
  char buffer[4096];
  while (arrived.size() <= 2 * longest) {
    const ssize_t size = recv(socket.fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return size < 0 && errno == EAGAIN;
    arrived.append(buffer, size_t(size));
  }
  return true;
}

/// Shuts the connection down after an incomplete send, because the peer could
/// not read any further message.
void Connection::send(const std::string &bytes) {
  if (!socket.isOpen())
    return;
  const ssize_t sent = ::send(socket.fd(), bytes.data(), bytes.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != ssize_t(bytes.size()))
    shutdown(socket.fd(), SHUT_RDWR);
}

void Connection::send(const Greeting &greeting) {
  send(encodeGreeting(greeting));
}

void Connection::send(const Frame &frame) { send(channel->seal(frame)); }

} // namespace pcc::runtime
