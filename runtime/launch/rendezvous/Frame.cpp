//===- Frame.cpp - wire format of the rendezvous between ranks ------------===//

#include "runtime/launch/rendezvous/Frame.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <sstream>

namespace pcc::runtime {

static constexpr char kMagic[4] = {'P', 'C', 'C', 'R'};
static constexpr size_t kHeaderSize = 12;

/// Appends the lowest `size` bytes of `number` to `bytes`, least significant
/// byte first.
static void putNumber(std::string &bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i)
    bytes += char(number >> (8 * i));
}

/// Returns the number that is stored in the `size` bytes from byte offset `at`
/// on, least significant byte first.
static uint32_t numberAt(const std::string &bytes, size_t at, int size) {
  uint32_t number = 0;
  for (int i = 0; i < size; ++i)
    number |= uint32_t(static_cast<unsigned char>(bytes[at + size_t(i)]))
              << (8 * i);
  return number;
}

std::string encodeFrame(const Frame &frame) {
  std::string bytes(kMagic, sizeof kMagic);
  putNumber(bytes, kProtocolVersion, 2);
  putNumber(bytes, uint64_t(frame.kind), 2);
  putNumber(bytes, frame.payload.size(), 4);
  return bytes + frame.payload;
}

/// Rejects a peer with another protocol early: returns Garbage as soon as one
/// byte differs from the magic bytes of a frame, even before a whole header has
/// arrived.
Parsed takeFrame(std::string &arrived, Frame &frame) {
  const size_t known = std::min(arrived.size(), sizeof kMagic);
  if (std::memcmp(arrived.data(), kMagic, known) != 0)
    return Parsed::Garbage;
  if (arrived.size() < kHeaderSize)
    return Parsed::Partial;
  if (numberAt(arrived, 4, 2) != kProtocolVersion)
    return Parsed::OtherVersion;
  const uint32_t kind = numberAt(arrived, 6, 2);
  const size_t length = numberAt(arrived, 8, 4);
  if (kind < uint32_t(FrameKind::Challenge) ||
      kind > uint32_t(FrameKind::Leave) || length > kLongestPayload)
    return Parsed::Garbage;
  if (arrived.size() < kHeaderSize + length)
    return Parsed::Partial;
  frame.kind = FrameKind(kind);
  frame.payload = arrived.substr(kHeaderSize, length);
  arrived.erase(0, kHeaderSize + length);
  return Parsed::Whole;
}

std::string encodeFields(const Fields &fields) {
  std::string text;
  for (const auto &[name, value] : fields) {
    std::string line = value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += name + "=" + line + "\n";
  }
  return text;
}

Fields decodeFields(const std::string &payload) {
  Fields fields;
  std::istringstream lines(payload);
  for (std::string line; std::getline(lines, line);)
    if (const size_t equals = line.find('='); equals != std::string::npos)
      fields.emplace(line.substr(0, equals), line.substr(equals + 1));
  return fields;
}

std::string toHex(const std::string &bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

std::string fromHex(const std::string &text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const char *begin = text.data() + i;
    if (!std::isxdigit(static_cast<unsigned char>(begin[0])) ||
        !std::isxdigit(static_cast<unsigned char>(begin[1])))
      return "";
    std::from_chars(begin, begin + 2, value, 16);
    bytes += char(value);
  }
  return text.size() % 2 == 0 ? bytes : "";
}

} // namespace pcc::runtime
