//===- WireReader.cpp - decoder of protocol buffer fields -----------------===//

#include "passes/1-import/onnx/model/WireReader.h"
#include "status/Counted.h"

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include <bit>
#include <cstring>

using namespace pcc::onnx;

// Protobuf stores fixed-size values in little-endian order. They are copied
// without conversion, so the host must be little endian.
static_assert(std::endian::native == std::endian::little,
              "fixed-size values are read as they stand");

uint64_t WireReader::readInteger() {
  try {
    return protozero::decode_varint(&position, end);
  } catch (const protozero::end_of_buffer_exception &) {
    throw WireError{"an integer is cut off", /*endsEarly=*/true};
  } catch (const protozero::exception &) {
    throw WireError{"an integer has more than 64 bits"};
  }
}

std::string_view WireReader::take(uint64_t size) {
  const auto left = static_cast<uint64_t>(end - position);
  if (size > left)
    throw WireError{"field " + std::to_string(number) + " needs " +
                        counted(size, "byte") + ", got " + std::to_string(left),
                    /*endsEarly=*/true};
  std::string_view taken(position, size);
  position += size;
  return taken;
}

/// Decodes the next field of the message. A field begins with an integer, which
/// is called the tag. The tag is the field number times 8 plus the wire type.
/// Example: the tag 66 = 8 * 8 + 2 begins a field with the field number 8 and
/// the wire type 2 (length-delimited). The value of the field follows the tag.
/// Returns false if no field is left.
bool WireReader::next() {
  if (position == end)
    return false;
  begin = position;
  const uint64_t tag = readInteger();
  if (tag >> 32 != 0 || tag >> 3 == 0)
    throw WireError{"there is no field " + std::to_string(tag >> 3)};
  number = static_cast<uint32_t>(tag >> 3);
  kind = static_cast<WireType>(tag & 7);
  value = 0;
  content = {};
  switch (kind) {
  case WireType::Integer:
    value = readInteger();
    return true;
  case WireType::Bytes:
    content = take(readInteger());
    return true;
  case WireType::Fixed64:
  case WireType::Fixed32:
    std::memcpy(&value, take(fixedSize()).data(), fixedSize());
    return true;
  }
  throw WireError{"field " + std::to_string(number) + " has wire type " +
                  std::to_string(tag & 7)};
}

void WireReader::wrongKind() const {
  throw WireError{"field " + std::to_string(number) + " has wire type " +
                  std::to_string(static_cast<int>(kind)) +
                  ", which is not that of ONNX"};
}

std::string_view WireReader::bytes() const {
  if (kind != WireType::Bytes)
    wrongKind();
  return content;
}

int64_t WireReader::integer() const {
  if (kind != WireType::Integer)
    wrongKind();
  return static_cast<int64_t>(value);
}

float WireReader::real() const {
  if (kind != WireType::Fixed32)
    wrongKind();
  return std::bit_cast<float>(static_cast<uint32_t>(value));
}

void WireReader::appendIntegers(std::vector<int64_t> &values) const {
  if (kind != WireType::Bytes) {
    values.push_back(integer());
    return;
  }
  WireReader packed(content);
  while (packed.position != packed.end)
    values.push_back(static_cast<int64_t>(packed.readInteger()));
}

void WireReader::appendReals(std::vector<float> &values) const {
  if (kind != WireType::Bytes) {
    values.push_back(real());
    return;
  }
  if (content.size() % sizeof(float) != 0)
    throw WireError{"field " + std::to_string(number) + " has " +
                    counted(content.size(), "byte") +
                    ", which is not a multiple of 4"};
  const size_t before = values.size();
  values.resize(before + content.size() / sizeof(float));
  if (!content.empty())
    std::memcpy(values.data() + before, content.data(), content.size());
}
