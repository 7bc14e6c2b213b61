//===- Safetensors.cpp - reading and writing safetensors files ------------===//

#include "runtime/tensor/Safetensors.h"
#include "status/Counted.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace pcc::runtime {

using nlohmann::ordered_json;

/// Names of the element types in the header of a safetensors file, indexed by
/// ElementType.
static constexpr std::array<std::string_view, 13> typeNames = {
    "F32", "F64", "F16", "BF16", "I8",  "I16", "I32",
    "I64", "U8",  "U16", "U32",  "U64", "BOOL"};

static constexpr uint64_t kAlignment = 64;
/// Largest header in bytes, as in the reference implementation of the format.
static constexpr uint64_t kLongestHeader = 100'000'000;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string safetensorsHeader(const std::vector<SafetensorsEntry> &entries) {
  ordered_json header = ordered_json::object();
  for (const SafetensorsEntry &entry : entries)
    header[entry.name] = {{"dtype", typeNames[size_t(entry.type)]},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.begin, entry.end}}};
  std::string text = header.dump(-1, ' ', /*ensure_ascii=*/false,
                                 ordered_json::error_handler_t::replace);
  const uint64_t whole = (sizeof(uint64_t) + text.size() + kAlignment - 1) /
                         kAlignment * kAlignment;
  text.resize(whole - sizeof(uint64_t), ' ');
  const uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns a JSON value as a size; std::nullopt if it is no unsigned number.
static std::optional<uint64_t> sizeOf(const ordered_json &value) {
  if (!value.is_number_unsigned())
    return std::nullopt;
  return value.get<uint64_t>();
}

/// Reads the shape of a tensor; returns false if `value` is not a list of
/// sizes.
static bool readShape(const ordered_json &value, SafetensorsEntry &entry) {
  if (!value.is_array())
    return false;
  for (const ordered_json &dim : value) {
    const std::optional<uint64_t> size = sizeOf(dim);
    if (!size || *size > uint64_t(INT64_MAX))
      return false;
    entry.shape.push_back(int64_t(*size));
  }
  return true;
}

/// Reads the byte range of a tensor; returns false if `value` is not a range.
static bool readOffsets(const ordered_json &value, SafetensorsEntry &entry) {
  if (!value.is_array() || value.size() != 2 || !sizeOf(value[0]) ||
      !sizeOf(value[1]))
    return false;
  entry.begin = *sizeOf(value[0]);
  entry.end = *sizeOf(value[1]);
  return entry.begin <= entry.end;
}

/// Returns whether the tensor's byte range has the size that its shape and type
/// require.
static bool hasSizeOfShape(const SafetensorsEntry &entry) {
  uint64_t bytes = sizeOf(entry.type);
  for (int64_t size : entry.shape)
    if (__builtin_mul_overflow(bytes, uint64_t(size), &bytes))
      return false;
  return bytes == entry.end - entry.begin;
}

/// Parses the header's JSON value of one tensor into `entry`. Returns a
/// description of the fault, or null if there is none.
static const char *readEntry(const ordered_json &value,
                             SafetensorsEntry &entry) {
  if (!value.is_object() || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets") ||
      !value["dtype"].is_string())
    return "is not described";
  const auto type = std::find(typeNames.begin(), typeNames.end(),
                              value["dtype"].get<std::string>());
  if (type == typeNames.end())
    return "is of an unknown type";
  entry.type = ElementType(type - typeNames.begin());
  if (!readShape(value["shape"], entry))
    return "has an impossible shape";
  if (!readOffsets(value["data_offsets"], entry) || !hasSizeOfShape(entry))
    return "has another size than its shape";
  return nullptr;
}

/// Parses the header into entries, sorted by offset. Returns a description of
/// the first fault, or an empty string.
static std::string readEntries(std::string_view text,
                               std::vector<SafetensorsEntry> &entries) {
  const auto header =
      ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return "its header is not a JSON object";
  for (const auto &[name, value] : header.items()) {
    if (name == "__metadata__")
      continue;
    entries.push_back({name});
    if (const char *fault = readEntry(value, entries.back()))
      return "tensor '" + name + "' " + fault;
  }
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  return {};
}

/// Checks that the tensors fill the `size` bytes after the header, without a
/// gap or an overlap. `entries` is sorted by offset. Returns a description of
/// the first fault, or an empty string.
static std::string findHole(const std::vector<SafetensorsEntry> &entries,
                            uint64_t size) {
  uint64_t end = 0;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.begin != end)
      return "tensor '" + entry.name + "' begins at " +
             std::to_string(entry.begin) + " and not at " + std::to_string(end);
    end = entry.end;
  }
  return end == size ? ""
                     : "its tensors end at " + std::to_string(end) + " of " +
                           counted(size, "byte");
}

Status SafetensorsFile::open(const std::string &path, SafetensorsFile &file) {
  const auto malformed = [&](const std::string &why) {
    return Status::error(DamagedBundle,
                         "'" + path +
                             "' is not a valid safetensors file: " + why);
  };
  SafetensorsFile opened;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, opened.file));
  const std::span<const std::byte> bytes = opened.file.bytes();
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return malformed("it has " + counted(bytes.size(), "byte"));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLongestHeader || length > bytes.size() - sizeof length)
    return malformed("its header would have " + counted(length, "byte"));
  opened.dataOffset = sizeof length + length;
  const std::string_view header(
      reinterpret_cast<const char *>(bytes.data()) + sizeof length, length);
  std::string fault = readEntries(header, opened.tensors);
  if (fault.empty())
    fault = findHole(opened.tensors, bytes.size() - opened.dataOffset);
  if (!fault.empty())
    return malformed(fault);
  file = std::move(opened);
  return Status::success();
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  for (const SafetensorsEntry &entry : tensors)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

} // namespace pcc::runtime
