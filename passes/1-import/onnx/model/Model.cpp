//===- Model.cpp - in-memory form of an ONNX model ------------------------===//

#include "passes/1-import/onnx/model/Model.h"

#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"

#include <algorithm>
#include <iterator>
#include <limits>

using namespace pcc::onnx;

namespace {

/// Name and size in bits of an element type; 0 bits if the size is not fixed.
struct DataTypeRow {
  const char *name;
  unsigned bits;
};

} // namespace

/// Table of element types. Row i describes the DataType with number i.
static constexpr DataTypeRow typeRows[] = {
    {"undefined", 0},      {"float", 32},     {"uint8", 8},
    {"int8", 8},           {"uint16", 16},    {"int16", 16},
    {"int32", 32},         {"int64", 64},     {"string", 0},
    {"bool", 8},           {"float16", 16},   {"double", 64},
    {"uint32", 32},        {"uint64", 64},    {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16},  {"float8e4m3fn", 8},
    {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8},
    {"uint4", 4},          {"int4", 4},       {"float4e2m1", 4},
    {"float8e8m0", 8},     {"uint2", 2},      {"int2", 2},
};

/// Returns the entry of the table `typeRows` for the element type `type`. The
/// entry holds the name of the element type and its size in bits. A model file
/// may contain a number that belongs to no element type, such as 77. The table
/// has no entry for this number, and the function returns null.
static const DataTypeRow *rowOf(DataType type) {
  const auto number = static_cast<int64_t>(type);
  return number >= 0 && number < static_cast<int64_t>(std::size(typeRows))
             ? &typeRows[number]
             : nullptr;
}

unsigned pcc::onnx::bitWidth(DataType type) {
  const DataTypeRow *row = rowOf(type);
  return row ? row->bits : 0;
}

std::string pcc::onnx::typeName(DataType type) {
  const DataTypeRow *row = rowOf(type);
  return row ? row->name : std::to_string(static_cast<int>(type));
}

std::string pcc::onnx::unknownType(DataType type) {
  return rowOf(type) ? std::string()
                     : "has the data type " + typeName(type) +
                           ", which ONNX does not have";
}

std::optional<uint64_t>
pcc::onnx::numElements(const std::vector<int64_t> &dims) {
  // Check for negative sizes before the check for zero sizes. Example: the
  // shape [0, -1] contains a zero and a negative size. The function must report
  // this shape as invalid, and must not return 0 elements.
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; }))
    return std::nullopt;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end())
    return 0;
  int64_t product = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(product, dim, &product))
      return std::nullopt;
  return static_cast<uint64_t>(product);
}

/// Returns the number of bytes of all elements of a tensor, rounded up. Returns
/// nothing if the element type is unknown or has no fixed size, if a dim is
/// negative, or if the number of elements or bytes exceeds 2^63 - 1.
std::optional<uint64_t> pcc::onnx::byteSize(DataType type,
                                            const std::vector<int64_t> &dims) {
  const std::optional<uint64_t> elements = numElements(dims);
  const uint64_t bits = bitWidth(type);
  if (!elements || bits == 0)
    return std::nullopt;
  const uint64_t perByte = bits < 8 ? 8 / bits : 1;
  const uint64_t units = *elements / perByte + (*elements % perByte != 0);
  const uint64_t unitBytes = bits < 8 ? 1 : bits / 8;
  if (units > std::numeric_limits<int64_t>::max() / unitBytes)
    return std::nullopt;
  return units * unitBytes;
}

bool pcc::onnx::contradicts(const Type &declared,
                            std::span<const int64_t> shape) {
  if (!declared.shape)
    return false;
  return !std::equal(declared.shape->begin(), declared.shape->end(),
                     shape.begin(), shape.end(),
                     [](const Dim &dim, int64_t size) {
                       return dim.value.value_or(size) == size;
                     });
}

const Attribute *Node::attribute(std::string_view wanted) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const Attribute &a) { return a.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

std::string Node::label() const {
  // quoted() escapes and shortens the op type, and puts it in single quotes.
  // The label shows the op type without quotes, so remove the quotes.
  std::string type = quoted(opType);
  type = type.substr(1, type.size() - 2);
  return (name.empty() ? "#" + std::to_string(index) : quoted(name)) + " (" +
         type + ")";
}

int64_t pcc::onnx::opsetVersion(const std::vector<OperatorSetId> &opsets,
                                std::string_view domain) {
  if (domain == "ai.onnx")
    domain = {};
  int64_t version = 0;
  for (const OperatorSetId &opset : opsets)
    if (opset.domain == domain)
      version = std::max(version, opset.version);
  return version;
}

std::string Function::label() const {
  std::string text = domain.empty() ? "" : std::string(domain) + ".";
  text += name;
  if (!overload.empty())
    text += ":" + std::string(overload);
  return quoted(text);
}

std::string_view Model::intern(std::string text) {
  return storage->keep(std::move(text));
}

std::optional<uint64_t> Model::fileOffset(std::string_view bytes) const {
  const std::string_view file = storage->file();
  const std::less_equal<const char *> before;
  if (file.empty() || bytes.empty() || !before(file.data(), bytes.data()) ||
      !before(bytes.data() + bytes.size(), file.data() + file.size()))
    return std::nullopt;
  return static_cast<uint64_t>(bytes.data() - file.data());
}
