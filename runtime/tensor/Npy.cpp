//===- Npy.cpp - reading and writing NumPy .npy files ---------------------===//

#include "runtime/tensor/Npy.h"
#include "runtime/base/MissingFile.h"
#include "runtime/base/QuantityText.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
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
                       "'" + path + "' is not a valid .npy file: " + why);
}

namespace {
/// The entries of the dictionary in the header of a .npy file.
struct NpyHeader {
  std::string type; ///< NumPy's name of the element type, such as "<f4"
  bool isFortranOrder;
  std::vector<int64_t> shape;
};

/// Parses the header of a .npy file, a Python dictionary with exactly three
/// keys, such as "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
/// Only spaces and line ends may follow the dictionary.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view header) : rest(header) {}

  /// Returns the entries of the header, or std::nullopt if the header is
  /// invalid. For a structured array, the type is the text of a list of fields,
  /// such as "[('x', '<f4')]". No element type has this name.
  std::optional<NpyHeader> parse() {
    if (!skip('{'))
      return std::nullopt;
    while (!skip('}'))
      if (!parseEntry() || (!skip(',') && !rest.starts_with('}')))
        return std::nullopt;
    skipSpace();
    if (!rest.empty() || !type || !isFortranOrder || !shape)
      return std::nullopt;
    return NpyHeader{*type, *isFortranOrder, *shape};
  }

private:
  void skipSpace() {
    rest.remove_prefix(
        std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  }

  /// Skips spaces, then `text`. Returns false if other text follows the spaces.
  bool skip(std::string_view text) {
    skipSpace();
    if (!rest.starts_with(text))
      return false;
    rest.remove_prefix(text.size());
    return true;
  }
  bool skip(char one) { return skip(std::string_view(&one, 1)); }

  /// Parses a key and its value. Returns false if they are invalid, or if the
  /// key occurs twice.
  bool parseEntry() {
    std::optional<std::string> key = parseString();
    if (!key || !skip(':'))
      return false;
    if (*key == "descr")
      return set(type, parseType());
    if (*key == "fortran_order")
      return set(isFortranOrder, parseBool());
    return *key == "shape" && set(shape, parseShape());
  }

  /// Sets `entry` to `value`. Returns false if `entry` was already set, or if
  /// `value` is std::nullopt.
  template <typename T>
  static bool set(std::optional<T> &entry, std::optional<T> value) {
    const bool isFirst = !entry;
    entry = std::move(value);
    return isFirst && entry;
  }

  /// Parses a text in single or double quotes. Returns the text between them.
  std::optional<std::string> parseString() {
    skipSpace();
    const char quote = rest.empty() ? '\0' : rest.front();
    const size_t end = rest.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == rest.npos)
      return std::nullopt;
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  /// Parses the name of an element type, or the list of a structure's fields.
  std::optional<std::string> parseType() {
    skipSpace();
    if (!rest.starts_with('['))
      return parseString();
    const size_t end = rest.find(']');
    if (end == rest.npos)
      return std::nullopt;
    std::string text(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  std::optional<bool> parseBool() {
    if (skip("True"))
      return true;
    return skip("False") ? std::optional(false) : std::nullopt;
  }

  /// Parses a Python tuple of sizes, such as "(2, 3)", "(2,)" or "()".
  std::optional<std::vector<int64_t>> parseShape() {
    std::vector<int64_t> sizes;
    if (!skip('('))
      return std::nullopt;
    while (!skip(')')) {
      skipSpace();
      int64_t size = 0;
      const auto [end, error] =
          std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc() || size < 0)
        return std::nullopt;
      rest.remove_prefix(size_t(end - rest.data()));
      sizes.push_back(size);
      if (!skip(',') && !rest.starts_with(')'))
        return std::nullopt;
    }
    return sizes;
  }

  std::string_view rest; ///< text that is not parsed yet
  std::optional<std::string> type;
  std::optional<bool> isFortranOrder;
  std::optional<std::vector<int64_t>> shape;
};
} // namespace

/// Returns the header's text (a Python dictionary), and sets `dataOffset` to
/// the byte offset of the first element. Returns std::nullopt if the file does
/// not begin with a header of version 1, 2 or 3.
static std::optional<std::string_view>
findHeader(std::span<const std::byte> bytes, size_t &dataOffset) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12)
    return std::nullopt;
  const auto version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3)
    return std::nullopt;
  const bool isLong = version > 1;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, isLong ? 4 : 2);
  const size_t begin = isLong ? 12 : 10;
  if (length > text.size() - begin)
    return std::nullopt;
  dataOffset = begin + length;
  return text.substr(begin, length);
}

/// Returns the element type with NumPy's name `name`, such as "<f4". Returns
/// std::nullopt if the type is not supported.
static std::optional<ElementType> typeOf(std::string_view name) {
  for (const Description &row : descriptions)
    if (name == row.name)
      return row.type;
  return std::nullopt;
}

Status NpyFile::open(const std::string &path, NpyFile &opened) {
  if (access(path.c_str(), F_OK) != 0)
    return Status::error(BadInput, "'" + path + "' " + describeMissing(path));
  NpyFile npy;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, npy.file));
  const auto text = findHeader(npy.file.bytes(), npy.dataOffset);
  if (!text)
    return malformed(path, "it does not begin with a header of version 1 to 3");
  std::optional<NpyHeader> header = HeaderParser(*text).parse();
  if (!header)
    return malformed(path, "its header is not a dictionary of a type (descr), "
                           "an order (fortran_order) and a shape");
  if (header->isFortranOrder)
    return malformed(path, "it is in Fortran order, C order is needed");
  const auto type = typeOf(header->type);
  if (!type)
    return malformed(path, "its type '" + header->type + "' is not supported");
  npy.dims = std::move(header->shape);
  npy.elementType = *type;
  int64_t bytes = int64_t(sizeOf(*type));
  for (int64_t size : npy.dims)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return malformed(path, "its shape is too large");
  const uint64_t held = npy.file.bytes().size() - npy.dataOffset;
  if (uint64_t(bytes) != held)
    return malformed(path,
                     std::string(uint64_t(bytes) > held ? "it is truncated"
                                                        : "it is too long") +
                         ": it holds " + countText(int64_t(held), "byte") +
                         " of elements, but " + toString(npy.dims) + " of " +
                         std::string(nameOf(*type)) + " needs " +
                         countText(bytes, "byte"));
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
