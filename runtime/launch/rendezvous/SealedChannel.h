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

/// One end of an encrypted connection. Encrypts the frames that this end sends,
/// and decrypts those that it receives.
class SealedChannel {
public:
  /// The end that uses a channel: Server is rank 0, Client is any other rank.
  enum class Role { Server, Client };

  SealedChannel(const SessionKeys &keys, Role role);

  /// Returns the bytes to send for `frame`. The results must be sent in the
  /// order of the calls. The payload must not exceed kLongestPayload.
  std::string seal(const Frame &frame);

  /// Removes the first frame from the received bytes `arrived`, if it is
  /// complete, and stores it in `frame`. Returns Garbage if the frame cannot be
  /// decrypted or its payload exceeds `longest` bytes. The connection must then
  /// be closed.
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
