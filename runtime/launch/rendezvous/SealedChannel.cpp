//===- SealedChannel.cpp - encrypted and authenticated frames -------------===//

#include "runtime/launch/rendezvous/SealedChannel.h"

#include <sodium.h>

namespace pcc::runtime {

static constexpr size_t kLengthSize = 4;
static constexpr size_t kTagSize = crypto_aead_xchacha20poly1305_ietf_ABYTES;

static unsigned char *bytesOf(std::string &text) {
  return reinterpret_cast<unsigned char *>(text.data());
}
static const unsigned char *bytesOf(const std::string &text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

SealedChannel::SealedChannel(const SessionKeys &keys, Role role)
    : sendKey(role == Role::Server ? keys.fromServer : keys.toServer),
      receiveKey(role == Role::Server ? keys.toServer : keys.fromServer) {}

/// Returns the nonce for the encryption of a frame (message). The cipher
/// requires a different nonce for each frame that it encrypts with one key.
/// `number` is the number of frames that were sent before in the same direction
/// of the connection. The nonce consists of 24 bytes: first `number` as 8
/// bytes, least significant byte first, and then 16 zero bytes.
static std::string nonceOf(uint64_t number) {
  std::string nonce;
  putNumber(nonce, number, 8);
  nonce.resize(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
  return nonce;
}

std::string SealedChannel::seal(const Frame &frame) {
  const std::string plain = encodeFrame(frame), nonce = nonceOf(numSealed++);
  std::string cipher(plain.size() + kTagSize, '\0'), bytes;
  putNumber(bytes, cipher.size(), kLengthSize);
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytesOf(cipher), nullptr, bytesOf(plain), plain.size(), bytesOf(bytes),
      bytes.size(), nullptr, bytesOf(nonce), bytesOf(sendKey));
  return bytes + cipher;
}

/// Decrypts the first message in the received bytes `arrived`, removes it from
/// `arrived`, and stores it in `frame`. Returns Parsed::Partial if the message
/// has not arrived completely. Returns Parsed::Garbage if the message is
/// invalid or its payload has more than `longest` bytes. The function checks
/// the length first, so that the process does not wait for a message that is
/// too long. The length is not encrypted, but the authentication tag covers it.
/// Decryption fails if the length was changed.
Parsed SealedChannel::open(std::string &arrived, Frame &frame, size_t longest) {
  if (arrived.size() < kLengthSize)
    return Parsed::Partial;
  const size_t length = numberAt(arrived, 0, kLengthSize);
  if (length < kFrameHeaderSize + kTagSize ||
      length > kFrameHeaderSize + kTagSize + longest)
    return Parsed::Garbage;
  if (arrived.size() < kLengthSize + length)
    return Parsed::Partial;
  std::string plain(length - kTagSize, '\0');
  const std::string nonce = nonceOf(numOpened++);
  const bool isGenuine =
      crypto_aead_xchacha20poly1305_ietf_decrypt(
          bytesOf(plain), nullptr, nullptr, bytesOf(arrived) + kLengthSize,
          length, bytesOf(arrived), kLengthSize, bytesOf(nonce),
          bytesOf(receiveKey)) == 0;
  arrived.erase(0, kLengthSize + length);
  return isGenuine && decodeFrame(plain, frame) ? Parsed::Whole
                                                : Parsed::Garbage;
}

} // namespace pcc::runtime
