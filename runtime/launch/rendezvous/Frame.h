//===- Frame.h - wire format of the rendezvous between ranks --------------===//
//
// Offsets in bytes; numbers are little-endian:
//
//   0       4         6      8        12
//   | magic | version | kind | length | payload: at most 64 KiB |
//
// Payloads are lines "name=value", except for Data frames, whose payload is
// opaque.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace pcc::runtime {

/// The kind of a frame. "Client" is any rank but 0, "server" is rank 0.
enum class FrameKind : uint16_t {
  /// Server to a new connection: the random bytes that the client's proof must
  /// cover.
  Challenge = 1,
  /// Client's answer: its proof, its own challenge, and its RankFacts.
  Hello,
  /// Server to client: the server's proof.
  Welcome,
  /// Server to client: the connection is refused, with exit code and reason.
  Refusal,
  /// Server to all clients: every rank has connected.
  Ready,
  /// Either direction: a message of Rendezvous::gather or broadcast.
  Data,
  /// Either direction: the run ends, with exit code, reason, and the lost rank.
  Abort,
  /// Client to server: this rank has finished its work and will disconnect.
  Leave,
};

/// A message between a client and the server.
struct Frame {
  FrameKind kind = FrameKind::Data;
  std::string payload = {};
};

/// Largest payload in bytes.
inline constexpr size_t kLongestPayload = 65536;
/// Version of the frame format and of the payloads.
inline constexpr uint16_t kProtocolVersion = 1;

/// Returns the bytes of a frame. The payload must not exceed kLongestPayload.
std::string encodeFrame(const Frame &frame);

/// Result of takeFrame().
enum class Parsed {
  /// A frame was removed from the front of the buffer.
  Whole,
  /// The frame is incomplete: more bytes must arrive.
  Partial,
  /// The peer is another build of pcc, with another protocol version.
  OtherVersion,
  /// The bytes are no frame of pcc, or the frame is too long.
  Garbage,
};

/// Removes the first complete frame from the received bytes `arrived`.
Parsed takeFrame(std::string &arrived, Frame &frame);

/// The fields of a payload by name.
using Fields = std::map<std::string, std::string>;
/// Serializes fields as lines. Newlines within values become spaces.
std::string encodeFields(const Fields &fields);
/// Parses lines "name=value"; other lines are ignored.
Fields decodeFields(const std::string &payload);

/// Converts bytes to hexadecimal digits and back: three bytes are "00ff10".
/// fromHex() returns an empty string for malformed text.
std::string toHex(const std::string &bytes);
std::string fromHex(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
