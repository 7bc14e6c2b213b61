//===- Connection.h - connection that carries frames between two ranks ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H

#include "runtime/launch/rendezvous/SealedChannel.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <optional>
#include <string>
#include <utility>

namespace pcc::runtime {

/// One end of a connection between two ranks. The peer is the other end. At
/// first, each end sends one greeting, a message that is not encrypted. The
/// user of this class then calls seal(), which stores the encryption keys.
/// After that, this end sends and receives only frames. A frame is an encrypted
/// message. All functions return without blocking.
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

  /// Sends `greeting` to the peer (the other end of the connection). A greeting
  /// is the first message that each of the two ends sends. A greeting is not
  /// encrypted, because the two ends compute the encryption keys from the
  /// contents of both greetings.
  void send(const Greeting &greeting);
  /// Removes the greeting of the peer from the received bytes, and stores it in
  /// `greeting`. A greeting is the first message that a peer sends. A greeting
  /// is not encrypted. The results are:
  ///
  /// - Parsed::Whole: `greeting` contains the greeting.
  /// - Parsed::Partial: more bytes must arrive first.
  /// - Parsed::OtherVersion: the peer uses another version of the protocol.
  /// - Parsed::Garbage: the received bytes are no greeting.
  Parsed take(Greeting &greeting) { return takeGreeting(arrived, greeting); }

  /// Stores `made`, which contains the keys of this connection. Must be called
  /// when both ends have sent their greetings, and before the first frame is
  /// sent or received. A frame is an encrypted message. send() encrypts frames
  /// with these keys, and take() decrypts frames.
  void seal(SealedChannel made) { channel = std::move(made); }
  /// Raises the limit for the payload of a received message from 4096 bytes to
  /// 64 KiB. No rank sends a larger payload. Must be called only if the peer
  /// has proved that it is a rank of the job. The lower limit prevents other
  /// processes from filling the memory of this rank.
  void trust() { longest = kLongestPayload; }

  /// Encrypts and sends a frame. seal() must have set the keys before. If the
  /// peer does not read and the kernel's buffer is full, shuts the connection
  /// down; receive() returns false after that.
  void send(const Frame &frame);
  /// Removes the first encrypted message from the received bytes, decrypts it,
  /// and stores its content in `frame`. seal() must have set the keys before.
  /// The results are:
  ///
  /// - Parsed::Whole: `frame` contains the message.
  /// - Parsed::Partial: more bytes must arrive first.
  /// - Parsed::Garbage: the message cannot be decrypted, or its payload exceeds
  ///   the limit (4096 bytes, or 64 KiB after a call of trust()). The caller
  ///   must close the connection.
  Parsed take(Frame &frame) { return channel->open(arrived, frame, longest); }

private:
  /// Largest payload, in bytes, of a received message before trust() is called.
  /// Until then, the other end of the connection may be a foreign process that
  /// is no rank of the job. The limit prevents a foreign process from filling
  /// the memory of this rank.
  static constexpr size_t kLongestOfStranger = 4096;

  /// Sends `bytes`, an encoded message, to the peer (the other end of the
  /// connection). Does not block. If the kernel does not accept all bytes at
  /// once, for example because its send buffer is full, the function shuts the
  /// connection down. Does nothing if the socket is closed.
  void send(const std::string &bytes);

  OpenFile socket;
  /// Received bytes that take() has not removed yet.
  std::string arrived;
  std::optional<SealedChannel> channel;
  size_t longest = kLongestOfStranger;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_CONNECTION_H
