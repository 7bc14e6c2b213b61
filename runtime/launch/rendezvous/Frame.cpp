//===- Frame.cpp - messages between ranks at start-up ---------------------===//

#include "runtime/launch/rendezvous/Frame.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace pcc::runtime {

void putNumber(std::string &bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i)
    bytes += char(number >> (8 * i));
}

uint32_t numberAt(const std::string &bytes, size_t at, int size) {
  uint32_t number = 0;
  for (int i = 0; i < size; ++i)
    number |= uint32_t(static_cast<unsigned char>(bytes[at + size_t(i)]))
              << (8 * i);
  return number;
}

std::string encodeFrame(const Frame &frame) {
  std::string bytes;
  putNumber(bytes, uint64_t(frame.kind), kFrameHeaderSize);
  return bytes + frame.payload;
}

bool decodeFrame(const std::string &bytes, Frame &frame) {
  if (bytes.size() < kFrameHeaderSize ||
      bytes.size() > kFrameHeaderSize + kLongestPayload)
    return false;
  const uint32_t kind = numberAt(bytes, 0, kFrameHeaderSize);
  frame = {FrameKind(kind), bytes.substr(kFrameHeaderSize)};
  return kind >= uint32_t(FrameKind::Hello) &&
         kind <= uint32_t(FrameKind::Leave);
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
