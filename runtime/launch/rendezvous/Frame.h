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
  /// First frame that a rank sends to rank 0: its rank, host and process id
  /// (RankFacts).
  Hello = 1,
  /// Reply of rank 0 to Hello (first frame of another rank): rank 0 admits the
  /// sender.
  Welcome,
  /// Reply of rank 0 to Hello (first frame of another rank): rank 0 rejects the
  /// sender. Carries an exit code and a reason.
  Refusal,
  /// Sent by rank 0 to all other ranks: every rank has connected.
  Ready,
  /// Data that a rank sends to rank 0, or rank 0 to another rank.
  Data,
  /// Sent by any rank: the run ends with an error. Carries the exit code and
  /// the text of the error. If the reason for the error is a lost rank, also
  /// carries the number of this rank. A rank is lost if its connection fails
  /// before the rank has announced its end, for example because the process of
  /// the rank has crashed.
  Abort,
  /// Sent to rank 0 by a rank that has finished its work and will disconnect.
  Leave,
};

/// A message between rank 0 and another rank: kind and payload.
struct Frame {
  FrameKind kind = FrameKind::Data;
  std::string payload = {};
};

/// Largest payload of a frame, in bytes.
inline constexpr size_t kLongestPayload = 65536;
/// Bytes of an encoded frame before its payload.
inline constexpr size_t kFrameHeaderSize = 2;

/// Returns `frame` as bytes.
std::string encodeFrame(const Frame &frame);
/// Parses bytes that encodeFrame() returned. Returns false if the kind is
/// unknown, or if the payload is too long.
bool decodeFrame(const std::string &bytes, Frame &frame);

/// Result of an attempt to remove a message from the front of received bytes.
enum class Parsed {
  /// A complete message was removed.
  Whole,
  /// The received bytes are the beginning of a message; more bytes must arrive.
  Partial,
  /// The message has a version number that differs from the protocol version of
  /// this program. The sender is probably another build of pcc. The message was
  /// not removed.
  OtherVersion,
  /// The bytes are no valid message.
  Garbage,
};

/// Appends the lowest `size` bytes of `number` to `bytes`, least significant
/// byte first.
void putNumber(std::string &bytes, uint64_t number, int size);
/// Returns the number in the `size` bytes (at most 4) from offset `at` on,
/// least significant byte first.
uint32_t numberAt(const std::string &bytes, size_t at, int size);

/// Fields of a frame's payload: values by name.
using Fields = std::map<std::string, std::string>;
/// Returns `fields` as lines "name=value". Newlines within values become
/// spaces.
std::string encodeFields(const Fields &fields);
/// Parses a payload of lines "name=value" into fields; other lines are ignored.
Fields decodeFields(const std::string &payload);

/// Converts bytes to hexadecimal digits, and back. For example, the bytes 0,
/// 255 and 16 are "00ff10". fromHex() returns an empty string for malformed
/// text.
std::string toHex(const std::string &bytes);
std::string fromHex(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
