//===- SealedChannel.h - encrypted and authenticated frames ---------------===//
//
// Each frame is sent as its length and its ciphertext (XChaCha20-Poly1305):
//
//   0        4
//   | length | ciphertext of kind and payload, with a tag of 16 bytes |
//
// The nonce of a frame is its number within its direction, and each direction
// of each connection has a key of its own. A frame that was changed, repeated,
// left out, reordered, sent back, or taken from another connection is therefore
// not accepted.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SEALEDCHANNEL_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SEALEDCHANNEL_H

#include "runtime/launch/rendezvous/Frame.h"
#include "runtime/launch/rendezvous/Handshake.h"

#include <string>

namespace pcc::runtime {

/// One end of an encrypted connection between rank 0 and another rank. A frame
/// is a message on this connection. seal() encrypts the frames that this end
/// sends. open() decrypts the frames that this end receives.
class SealedChannel {
public:
  /// End of the connection: Server is the end at rank 0, and Client is the end
  /// at any other rank.
  enum class Role { Server, Client };

  SealedChannel(const SessionKeys &keys, Role role);

  /// Encrypts the message `frame`, and returns the encrypted bytes. The caller
  /// must send the bytes to the other end of the connection. The payload of the
  /// message must not have more than 64 KiB (kLongestPayload). The caller must
  /// send the results of several calls in the order of the calls, because the
  /// other end can decrypt the messages only in this order.
  std::string seal(const Frame &frame);

  /// Decrypts the first frame in the received bytes `arrived`. A frame is a
  /// message between rank 0 and another rank. `longest` is the largest payload,
  /// in bytes, that the caller accepts. The results are:
  ///
  /// - Parsed::Whole: `frame` contains the decrypted message. The bytes of the
  ///   message have been removed from `arrived`.
  /// - Parsed::Partial: The frame is not complete. More bytes must arrive
  ///   first.
  /// - Parsed::Garbage: The bytes are not a valid frame. For example, the
  ///   decryption has failed, or the payload has more than `longest` bytes. The
  ///   caller must close the connection.
  Parsed open(std::string &arrived, Frame &frame, size_t longest);

private:
  std::string sendKey, receiveKey;
  /// `numSealed` is the number of frames (messages) that seal() has encrypted.
  /// `numOpened` is the number of frames that open() has tried to decrypt. Both
  /// ends count in the same way and use the count as the nonce of the cipher.
  uint64_t numSealed = 0, numOpened = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SEALEDCHANNEL_H
