//===- Npy.cpp - reading and writing NumPy .npy files ---------------------===//

#include "runtime/tensor/Npy.h"

#include <array>
#include <cassert>
#include <cstring>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace pcc::runtime {

namespace {
/// An element type and its spelling in the header's `descr` field.
struct Description {
  std::string_view name;
  ElementType type;
};
} // namespace

static constexpr std::array<Description, 12> descriptions = {
    {{"<f4", ElementType::F32},
     {"<f8", ElementType::F64},
     {"<f2", ElementType::F16},
     {"|i1", ElementType::I8},
     {"<i2", ElementType::I16},
     {"<i4", ElementType::I32},
     {"<i8", ElementType::I64},
     {"|u1", ElementType::U8},
     {"<u2", ElementType::U16},
     {"<u4", ElementType::U32},
     {"<u8", ElementType::U64},
     {"|b1", ElementType::Bool}}};

static constexpr std::string_view kMagic("\x93NUMPY", 6);

/// Returns the error (exit code 10) of a malformed file. `why` is the reason.
static Status malformed(const std::string &path, const std::string &why) {
  return Status::error(BadInput,
                       "\"" + path + "\" is not a valid .npy file: " + why);
}

/// Finds the value of `key` in the header of a .npy file. `header` is the text
/// of the header, which is a Python dictionary with quoted keys. Returns the
/// rest of `header`, beginning with the first character of the value. Returns
/// std::nullopt if `header` does not contain the key, or if no value follows
/// the key.
///
/// For example, `header` is "{'descr': '<f4', 'shape': (2, 3), }" and `key` is
/// "shape". The function returns "(2, 3), }".
static std::optional<std::string_view> fieldOf(std::string_view header,
                                               std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  size_t at = header.find(quoted);
  if (at == header.npos)
    return std::nullopt;
  at = header.find_first_not_of(" :", at + quoted.size());
  return at == header.npos ? std::nullopt : std::optional(header.substr(at));
}

/// Parses a Python tuple of sizes, such as "(2, 3)", at the beginning of
/// `text`. Returns false if `text` does not begin with such a tuple.
static bool parseShape(std::string_view text, std::vector<int64_t> &shape) {
  const size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == text.npos)
    return false;
  for (size_t at = 1; at < end;) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    int64_t size = 0;
    const size_t begin = at;
    for (; at < end && text[at] >= '0' && text[at] <= '9'; ++at)
      if (__builtin_mul_overflow(size, int64_t(10), &size) ||
          __builtin_add_overflow(size, int64_t(text[at] - '0'), &size))
        return false;
    if (at == begin)
      return false;
    shape.push_back(size);
  }
  return true;
}

/// Returns the header's text (a Python dictionary), and sets `dataOffset` to
/// the byte offset of the first element. Returns std::nullopt if the file does
/// not begin with a header.
static std::optional<std::string_view>
findHeader(std::span<const std::byte> bytes, size_t &dataOffset) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12)
    return std::nullopt;
  const bool isLong = text[6] > 1;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, isLong ? 4 : 2);
  const size_t begin = isLong ? 12 : 10;
  if (length > text.size() - begin)
    return std::nullopt;
  dataOffset = begin + length;
  return text.substr(begin, length);
}

/// Returns the element type that a type name of NumPy stands for. For example,
/// '<f4' stands for F32. `field` begins with the type name in single quotes.
/// Other text may follow the closing quote. Returns std::nullopt if the type is
/// not supported.
static std::optional<ElementType> typeOf(std::string_view field) {
  for (const Description &row : descriptions)
    if (field.size() > 4 && field.substr(1, 3) == row.name)
      return row.type;
  return std::nullopt;
}

Status NpyFile::open(const std::string &path, NpyFile &opened) {
  if (access(path.c_str(), F_OK) != 0)
    return Status::error(BadInput, "there is no file \"" + path + "\"");
  NpyFile npy;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, npy.file));
  const auto header = findHeader(npy.file.bytes(), npy.dataOffset);
  if (!header)
    return malformed(path, "it does not begin with a header");
  const auto order = fieldOf(*header, "fortran_order");
  const auto description = fieldOf(*header, "descr");
  const auto shape = fieldOf(*header, "shape");
  if (!order || !description || !shape || !parseShape(*shape, npy.dims))
    return malformed(path, "its header lacks a type, an order or a shape");
  if (!order->starts_with("False"))
    return malformed(path, "it is in Fortran order, C order is needed");
  const auto type = typeOf(*description);
  if (!type)
    return malformed(path, "its type " +
                               std::string(description->substr(0, 5)) +
                               " is not supported");
  npy.elementType = *type;
  int64_t bytes = int64_t(sizeOf(*type));
  for (int64_t size : npy.dims)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return malformed(path, "its shape is too large");
  if (uint64_t(bytes) > npy.file.bytes().size() - npy.dataOffset)
    return malformed(path, "it is truncated");
  opened = std::move(npy);
  return Status::success();
}

ElementType npyTypeOf(ElementType type) {
  return type == ElementType::BF16 ? ElementType::F32 : type;
}

std::string npyHeader(ElementType type, const std::vector<int64_t> &shape) {
  assert(type != ElementType::BF16 && "NumPy has no bf16");
  std::string dictionary = "{'descr': '";
  for (const Description &row : descriptions)
    if (row.type == type)
      dictionary += row.name;
  dictionary += "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    dictionary += std::to_string(size) + ", ";
  if (shape.size() > 1)
    dictionary.resize(dictionary.size() - 2);
  else if (shape.size() == 1)
    dictionary.resize(dictionary.size() - 1);
  dictionary += "), }";
  const size_t unpadded = 10 + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', char(dictionary.size() & 0xff),
             char(dictionary.size() >> 8)};
  return header + dictionary;
}

std::string toString(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

} // namespace pcc::runtime
