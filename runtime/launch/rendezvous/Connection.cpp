//===- Connection.cpp - connection that carries frames between two ranks --===//

#include "runtime/launch/rendezvous/Connection.h"

#include <cerrno>

namespace pcc::runtime {

/// Appends the bytes that have arrived at the socket to `arrived`. take() later
/// removes messages from `arrived`. The function stops when no more bytes are
/// available, or when `arrived` contains more than 2 * `longest` bytes.
/// `longest` is the limit for the payload of one message: 4096 bytes, or 64 KiB
/// after a call of trust(). A fast peer thus cannot fill the memory.
///
/// Returns false if the peer has closed the connection, or if the socket
/// reports an error. Otherwise returns true, even if no bytes have arrived.
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

/// Sends `bytes`, an encoded message, to the peer (the other end of the
/// connection). Does not block. Does nothing if the socket is closed.
///
/// If the send buffer of the kernel is full, the kernel accepts only a part of
/// `bytes`. The function does not store the remaining bytes and never sends
/// them, so the peer cannot read this message or any later message. The
/// function therefore shuts the connection down if the kernel has not accepted
/// all bytes.
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
