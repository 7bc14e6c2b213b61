//===- Connection.h - connection that carries frames between two ranks ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H

#include "runtime/launch/rendezvous/SealedChannel.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <optional>
#include <string>
#include <utility>

namespace pcc::runtime {

/// One end of a connection between two ranks. Each end first sends one
/// greeting, which is not encrypted. After a call of seal(), it sends and
/// receives only encrypted frames. All functions return without blocking.
class Connection {
public:
  Connection() = default;
  /// Takes ownership of a connected socket.
  explicit Connection(OpenFile socket) : socket(std::move(socket)) {}

  bool isOpen() const { return socket.isOpen(); }
  int fd() const { return socket.fd(); }
  void close() { socket.reset(); }

  /// Reads and stores bytes that have arrived. Returns false if the peer has
  /// closed the connection.
  bool receive();

  /// Sends a greeting, the first message of this end, without encryption.
  void send(const Greeting &greeting);
  /// Removes a greeting (first message of the peer, not encrypted) from the
  /// received bytes.
  Parsed take(Greeting &greeting) { return takeGreeting(arrived, greeting); }

  /// Encrypts all later messages with the keys of `made`. Rejects received
  /// frames of more than 4096 bytes. trust() removes this limit when the peer
  /// has proved to be a rank.
  void seal(SealedChannel made) { channel = std::move(made); }
  /// Admits frames of any size: the peer has proved that it is a rank of the
  /// job.
  void trust() { longest = kLongestPayload; }

  /// Encrypts and sends a frame. seal() must have set the keys before. If the
  /// peer does not read and the kernel's buffer is full, shuts the connection
  /// down; receive() returns false after that.
  void send(const Frame &frame);
  /// Removes the first frame from the received bytes, and decrypts it. seal()
  /// must have set the keys before.
  Parsed take(Frame &frame) { return channel->open(arrived, frame, longest); }

private:
  /// Largest payload, in bytes, of a frame from a peer that has not proved that
  /// it is a rank. Limits the memory that such peers can fill.
  static constexpr size_t kLongestOfStranger = 4096;

  /// Sends bytes, or shuts the connection down if not all can be sent.
  void send(const std::string &bytes);

  OpenFile socket;
  /// Received bytes that take() has not removed yet.
  std::string arrived;
  std::optional<SealedChannel> channel;
  size_t longest = kLongestOfStranger;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
