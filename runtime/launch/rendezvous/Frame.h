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

/// The kind of a frame (message between ranks at start-up). The client is any
/// rank but 0, the server is rank 0.
enum class FrameKind : uint16_t {
  /// Sent by the server on a new connection: random bytes that the client must
  /// include in its proof of the job token.
  Challenge = 1,
  /// Sent by the client in reply to Challenge: its proof that it knows the job
  /// token, random bytes for the server's proof, and its RankFacts.
  Hello,
  /// Sent by the server in reply to Hello: its proof that it knows the job
  /// token.
  Welcome,
  /// Sent by the server in reply to Hello: the connection is refused, with exit
  /// code and reason.
  Refusal,
  /// Sent by the server to all clients: every rank has connected.
  Ready,
  /// Sent in either direction: the data of one rank in Rendezvous::gather() or
  /// broadcast().
  Data,
  /// Sent in either direction: the run ends with an error. Carries exit code,
  /// reason, and the lost rank if there is one.
  Abort,
  /// Sent by the client: its rank has finished its work and will disconnect.
  Leave,
};

/// A message between rank 0 (server) and another rank (client): kind and
/// payload.
struct Frame {
  FrameKind kind = FrameKind::Data;
  std::string payload = {};
};

/// Largest payload of a frame, in bytes.
inline constexpr size_t kLongestPayload = 65536;
/// Version of the format of frames (messages between ranks at start-up) and
/// their payloads.
inline constexpr uint16_t kProtocolVersion = 1;

/// Returns the bytes that are sent for `frame`. The payload must not exceed
/// kLongestPayload.
std::string encodeFrame(const Frame &frame);

/// Result of takeFrame().
enum class Parsed {
  /// A complete frame was removed from the front of the received bytes.
  Whole,
  /// The received bytes are the beginning of a frame; more bytes must arrive.
  Partial,
  /// The frame has another protocol version, so the peer is another build of
  /// pcc.
  OtherVersion,
  /// The received bytes are no frame of pcc, or the frame is too long.
  Garbage,
};

/// Removes the first frame from the front of the received bytes `arrived`, if
/// it is complete, and stores it in `frame`. Returns whether the frame was
/// complete, incomplete or invalid.
Parsed takeFrame(std::string &arrived, Frame &frame);

/// Fields of a frame's payload: values by name.
using Fields = std::map<std::string, std::string>;
/// Returns `fields` as lines "name=value". Newlines within values become
/// spaces.
std::string encodeFields(const Fields &fields);
/// Parses a payload of lines "name=value" into fields; other lines are ignored.
Fields decodeFields(const std::string &payload);

/// Converts bytes to hexadecimal digits, two per byte, and back. For example,
/// the bytes 0, 255 and 16 are "00ff10". fromHex() returns an empty string for
/// malformed text.
std::string toHex(const std::string &bytes);
std::string fromHex(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
