//===- Mutator.cpp - changes fields of protocol buffers, not bytes --------===//
//
// Random changes of bytes break the lengths of the enclosing messages, so that
// only the reader is tested. Therefore the mutator splits a model into fields,
// changes one of them, and writes correct lengths.
//
//===----------------------------------------------------------------------===//

#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// A field. `payload` is the content if the wire type is 2 (a string or a
/// message), else the bytes of the number.
struct Field {
  uint64_t key;
  std::string payload;
  bool isBytes() const { return (key & 7) == 2; }
};
using Fields = std::vector<Field>;

/// Field numbers of the messages that enclose a payload. Payloads with equal
/// paths have equal meaning.
using Path = std::vector<uint64_t>;
using Pool = std::map<Path, std::vector<std::string>>;

} // namespace

static std::optional<uint64_t> takeVarint(std::string_view &bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 10 && i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 127) << (7 * i);
    if (bytes[i] & 128)
      continue;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

static void putVarint(std::string &bytes, uint64_t value) {
  protozero::add_varint_to_buffer(&bytes, value);
}

/// Removes the payload of a field with this key and returns it; nothing if the
/// bytes do not fit.
static std::optional<std::string> takePayload(uint64_t key,
                                              std::string_view &bytes) {
  const std::string_view before = bytes;
  std::optional<uint64_t> size;
  switch (key & 7) {
  case 0:
    if (!takeVarint(bytes))
      return std::nullopt;
    return std::string(before.substr(0, before.size() - bytes.size()));
  case 1:
  case 5:
    size = (key & 7) == 1 ? 8 : 4;
    break;
  case 2:
    size = takeVarint(bytes);
    break;
  default:
    break;
  }
  if (!size || *size > bytes.size())
    return std::nullopt;
  std::string payload(bytes.substr(0, *size));
  bytes.remove_prefix(*size);
  return payload;
}

/// Returns the fields of a message; nothing if the bytes are no message.
static std::optional<Fields> split(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const auto key = takeVarint(bytes);
    if (!key || *key >> 3 == 0 || *key >> 3 > 1000)
      return std::nullopt;
    auto payload = takePayload(*key, bytes);
    if (!payload)
      return std::nullopt;
    fields.push_back({*key, std::move(*payload)});
  }
  return fields;
}

static std::string join(const Fields &fields) {
  std::string bytes;
  for (const Field &field : fields) {
    putVarint(bytes, field.key);
    if (field.isBytes())
      putVarint(bytes, field.payload.size());
    bytes += field.payload;
  }
  return bytes;
}

/// Collects all payloads in `bytes` by path.
static void collect(std::string_view bytes, Path &path, Pool &pool) {
  const auto fields = split(bytes);
  if (!fields || path.size() > 12)
    return;
  for (const Field &field : *fields) {
    path.push_back(field.key);
    pool[path].push_back(field.payload);
    if (field.isBytes())
      collect(field.payload, path, pool);
    path.pop_back();
  }
}

namespace {

class Mutation {
public:
  /// `pool` holds payloads that may replace others.
  Mutation(unsigned seed, const Pool &pool) : random(seed), pool(pool) {}

  /// Returns the message `bytes` with one change at some depth.
  std::string change(std::string_view bytes) {
    auto fields = split(bytes);
    if (!fields || fields->empty())
      return changeBytes(std::string(bytes));
    const size_t at = below(fields->size());
    Field &field = (*fields)[at];
    path.push_back(field.key);
    const auto inner = field.isBytes() ? split(field.payload) : std::nullopt;
    if (inner && !inner->empty() && below(8) != 0)
      field.payload = change(field.payload);
    else
      changeField(*fields, at);
    return join(*fields);
  }

private:
  size_t below(size_t bound) { return random() % bound; }

  void changeField(Fields &fields, size_t at) {
    Field &field = fields[at];
    switch (below(6)) {
    case 0:
      fields.erase(fields.begin() + at);
      return;
    case 1:
      fields.insert(fields.begin() + below(fields.size() + 1), Field(field));
      return;
    case 2:
      std::swap(fields[at], fields[below(fields.size())]);
      return;
    case 3:
    case 4:
      field.payload = substitute(field.payload);
      return;
    default:
      if (field.isBytes())
        field.payload = changeBytes(field.payload);
      else
        changeNumber(field);
    }
  }

  std::string substitute(const std::string &otherwise) {
    const auto found = pool.find(path);
    return found == pool.end() ? otherwise
                               : found->second[below(found->second.size())];
  }

  void changeNumber(Field &field) {
    static constexpr int64_t values[] = {
        0,         1,         2,         3,         4,         7,
        8,         16,        127,       255,       256,       1 << 14,
        1 << 20,   INT32_MAX, INT32_MIN, 1LL << 32, 1LL << 40, 1LL << 48,
        1LL << 62, INT64_MAX, INT64_MIN, -1,        -2,        -3,
        10,        11,        13,        22};
    const int64_t value = values[below(std::size(values))];
    if ((field.key & 7) == 0) {
      field.payload.clear();
      putVarint(field.payload, static_cast<uint64_t>(value));
      return;
    }
    const float number = static_cast<float>(value);
    const double wide = static_cast<double>(value);
    if (field.payload.size() == sizeof number)
      std::memcpy(field.payload.data(), &number, sizeof number);
    else
      std::memcpy(field.payload.data(), &wide, sizeof wide);
  }

  static std::string changeBytes(std::string bytes) {
    const size_t size = bytes.size();
    bytes.resize(size + 32);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()),
                                  size, bytes.size()));
    return bytes;
  }

  std::minstd_rand random;
  const Pool &pool;
  Path path;
};

} // namespace

/// Changes `bytes` with payloads of `other`. Leaves them unchanged if the
/// result is too long.
static size_t mutate(std::string_view bytes, std::string_view other,
                     uint8_t *data, size_t maxSize, unsigned seed) {
  Pool pool;
  Path path;
  collect(other, path, pool);
  const std::string changed = Mutation(seed, pool).change(bytes);
  if (changed.size() > maxSize)
    return 0;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

static std::string_view view(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  const std::string bytes(view(data, size));
  return mutate(bytes, bytes, data, maxSize, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size,
                                            const uint8_t *other,
                                            size_t otherSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  return mutate(view(data, size), view(other, otherSize), out, maxSize, seed);
}
