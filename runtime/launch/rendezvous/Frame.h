//===- Frame.h - what ranks say to each other at the rendezvous -----------===//
//
//   0       4         6      8        12
//   | magic | version | kind | length | payload: at most 64 KiB |
//
// Numbers are little-endian. Payloads are lines "name=value".
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace pcc::runtime {

enum class FrameKind : uint16_t {
  Challenge = 1, ///< rank 0 to who has connected: what to prove itself with
  Hello,         ///< the answer: proof, challenge of its own, who it is
  Welcome,       ///< rank 0's proof
  Refusal,       ///< the connection is not wanted: code, reason
  Ready,         ///< all ranks are there
  Data,          ///< of Rendezvous::gather and broadcast
  Abort,         ///< the run ends: code, reason, the rank that was lost
  Leave,         ///< this rank has done all that it had to
};

struct Frame {
  FrameKind kind = FrameKind::Data;
  std::string payload = {};
};

inline constexpr size_t kLongestPayload = 65536;
/// Of the frames and what is in them.
inline constexpr uint16_t kProtocolVersion = 1;

/// The payload must not be longer than kLongestPayload.
std::string encodeFrame(const Frame &frame);

enum class Parsed {
  Whole,        ///< a frame was taken off the front
  Partial,      ///< more has to come
  OtherVersion, ///< another build of pcc speaks
  Garbage,      ///< no frame begins like that, or it is too long
};

/// Takes the first frame off what has arrived.
Parsed takeFrame(std::string &arrived, Frame &frame);

/// The lines of a payload. Values keep no newlines.
using Fields = std::map<std::string, std::string>;
std::string encodeFields(const Fields &fields);
Fields decodeFields(const std::string &payload);

/// "00ff10" for three bytes, and back; empty if it is no such text.
std::string toHex(const std::string &bytes);
std::string fromHex(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_FRAME_H
