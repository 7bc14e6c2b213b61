//===- Frame.h - messages between ranks at start-up -----------------------===//
//
// Offsets in bytes; the kind is a little-endian number:
//
//   0      2
//   | kind | payload: at most 64 KiB |
//
// Payloads are lines "name=value", except for Data frames, whose payload is
// opaque. Frames are always sent encrypted and authenticated (SealedChannel.h).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace pcc::runtime {

/// Kind of a frame. A frame is a message between rank 0 and another rank.
enum class FrameKind : uint16_t {
  /// First frame that every rank except rank 0 sends to rank 0. A frame is a
  /// message. The payload of this frame contains facts about the sender (struct
  /// RankFacts): its rank number, the number of ranks that it expects, its host
  /// name, its process id, and an id of its bundle. A bundle is the directory
  /// that the compiler has written.
  Hello = 1,
  /// Reply of rank 0 to a Hello frame. A Hello frame is the first frame that
  /// another rank sends to rank 0. The reply means that rank 0 accepts the
  /// sender as a rank of the job. The payload is empty.
  Welcome,
  /// Reply of rank 0 to a Hello frame. A Hello frame is the first frame that
  /// another rank sends to rank 0. The reply means that rank 0 does not accept
  /// the sender as a rank of the job. The payload contains the exit code and
  /// the text of the error with which the sender ends.
  Refusal,
  /// Sent by rank 0 to all other ranks: every rank has connected.
  Ready,
  /// Sent by a rank to rank 0, or by rank 0 to another rank. The payload of the
  /// frame consists of arbitrary bytes. The code that sends and receives frames
  /// does not interpret these bytes. For example, a rank sends its version of
  /// NCCL to rank 0.
  Data,
  /// Announces that the run ends with an error. If a rank other than rank 0
  /// detects the error, this rank sends an Abort frame to rank 0. Rank 0 sends
  /// an Abort frame to all other ranks if it has detected an error itself, or
  /// if it has received an Abort frame. The payload contains:
  ///
  /// - the exit code and the text of the error.
  /// - the number of the lost rank, or -1 if no rank is lost. A rank is lost if
  ///   its connection fails before the rank has sent an Abort frame or a Leave
  ///   frame, for example because the process of the rank has crashed.
  Abort,
  /// Sent to rank 0 by a rank that has finished its work and will disconnect.
  Leave,
};

/// A message between rank 0 and another rank: kind and payload.
struct Frame {
  FrameKind kind = FrameKind::Data;
  std::string payload = {};
};

/// Largest payload of a frame, in bytes. A frame is a message between rank 0
/// and another rank. The payload is the content of the message.
inline constexpr size_t kLongestPayload = 65536;
/// Number of bytes that precede the payload in an encoded frame. These 2 bytes
/// contain the kind of the frame, such as FrameKind::Data.
inline constexpr size_t kFrameHeaderSize = 2;

/// Converts the message `frame` to bytes: 2 bytes that contain the kind of the
/// message, followed by the payload.
std::string encodeFrame(const Frame &frame);
/// Converts `bytes` to a frame, and stores the frame in `frame`. The function
/// encodeFrame() converts a frame to such bytes. Returns false in these cases:
///
/// - `bytes` has fewer than 2 bytes (kFrameHeaderSize).
/// - The payload has more than 64 KiB (kLongestPayload).
/// - The first 2 bytes are not the number of a FrameKind.
bool decodeFrame(const std::string &bytes, Frame &frame);

/// Result of an attempt to remove a message from the front of received bytes.
enum class Parsed {
  /// The received bytes began with a complete message. The function that
  /// returns this result has removed the message from the received bytes.
  Whole,
  /// The received bytes are the beginning of a message; more bytes must arrive.
  Partial,
  /// The received bytes begin with a greeting. A greeting is the first message
  /// that a peer sends. A greeting contains the version number of the protocol
  /// that the peer uses. This program uses another version of the protocol. The
  /// peer is probably another build of pcc. The function that returns this
  /// result leaves the received bytes unchanged.
  OtherVersion,
  /// The bytes are no valid message.
  Garbage,
};

/// Appends the lowest `size` bytes of `number` to `bytes`, least significant
/// byte first.
void putNumber(std::string &bytes, uint64_t number, int size);
/// Returns the number that `bytes` contains at the offset `at`. The number has
/// `size` bytes, at most 4, and begins with the least significant byte. For
/// example, if the bytes are 7, 1 and 2, and `at` is 1, and `size` is 2, the
/// number is 1 + 2 * 256 = 513.
uint32_t numberAt(const std::string &bytes, size_t at, int size);

/// Content of a message between rank 0 and another rank, as a map from names to
/// values. The message itself contains one line of text for each name. For
/// example, if the map contains the value "node7" for the name "host", the
/// message contains the line "host=node7".
using Fields = std::map<std::string, std::string>;
/// Returns `fields` as lines "name=value". Newlines within values become
/// spaces.
std::string encodeFields(const Fields &fields);
/// Converts the payload (content) of a received message to fields. Each line of
/// the payload that has the form "name=value" becomes one field. For example,
/// the line "host=node7" becomes a field with the name "host" and the value
/// "node7". A line without "=" is ignored.
Fields decodeFields(const std::string &payload);

/// Converts each byte to two hexadecimal digits. For example, the bytes 0, 255
/// and 16 give the text "00ff10".
std::string toHex(const std::string &bytes);
/// Converts hexadecimal digits to bytes. For example, the text "00ff10" gives
/// the bytes 0, 255 and 16. Returns an empty string if `text` has an odd number
/// of characters, or a character that is not a hexadecimal digit.
std::string fromHex(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
