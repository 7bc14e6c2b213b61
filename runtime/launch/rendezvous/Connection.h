//===- Connection.h - connection that carries frames between two ranks ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H

#include "runtime/launch/rendezvous/SealedChannel.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <optional>
#include <string>
#include <utility>

namespace pcc::runtime {

/// One end of a connection between two ranks. First carries greetings, and
/// after seal() only encrypted and authenticated frames. Never blocks.
class Connection {
public:
  Connection() = default;
  /// Takes ownership of a connected socket.
  explicit Connection(OpenFile socket) : socket(std::move(socket)) {}

  bool isOpen() const { return socket.isOpen(); }
  int fd() const { return socket.fd(); }
  void close() { socket.reset(); }

  /// Reads bytes that have arrived. Returns false if the peer has closed the
  /// connection. Messages that arrived before can still be taken.
  bool receive();

  /// Sends a greeting, before seal().
  void send(const Greeting &greeting);
  /// Removes a greeting from the received bytes, before seal().
  Parsed take(Greeting &greeting) { return takeGreeting(arrived, greeting); }

  /// Encrypts and authenticates everything from now on. Frames are short until
  /// trust() is called.
  void seal(SealedChannel made) { channel = std::move(made); }
  /// Admits frames of any size: the peer has proved that it is a rank of the
  /// job.
  void trust() { longest = kLongestPayload; }

  /// Sends a frame, after seal(). If the kernel's buffer does not have space
  /// for all of its bytes, the peer has not read for a long time: the
  /// connection is then shut down, and receive() returns false.
  void send(const Frame &frame);
  /// Removes the first frame from the received bytes, after seal().
  Parsed take(Frame &frame) { return channel->open(arrived, frame, longest); }

private:
  /// Largest payload of a frame of a peer that has proved nothing, in bytes. It
  /// bounds the memory that strangers can fill.
  static constexpr size_t kLongestOfStranger = 4096;

  /// Sends bytes, or shuts the connection down.
  void send(const std::string &bytes);

  OpenFile socket;
  /// Received bytes that were not taken yet.
  std::string arrived;
  std::optional<SealedChannel> channel;
  size_t longest = kLongestOfStranger;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
