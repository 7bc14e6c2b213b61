//===- ParseTensor.cpp - parser of tensors and sparse tensors -------------===//

#include "passes/1-import/onnx/parse/ModelParser.h"

#include "passes/1-import/onnx/model/MessageText.h"
#include "status/Counted.h"

using namespace pcc::onnx;

namespace {

/// Describes a field of the message TensorProto in onnx.proto. The field is a
/// list of numbers that contains the elements of a tensor. For example, the
/// field float_data contains the elements of a tensor of the type float. A
/// TensorProto may store its elements in the field raw_data instead, as bytes.
struct TypedField {
  /// Number of the field in TensorProto. For example, float_data has the number
  /// 4. 0 if TensorProto has no list of numbers for the element type, as for
  /// strings.
  uint32_t field = 0;
  /// Number of bytes in Tensor::raw for one number of the described field. The
  /// number is one element (float: 4 bytes, int8: 1 byte), two elements (int4:
  /// 1 byte) or half an element (complex64: 4 bytes).
  unsigned valueBytes = 0;
  /// Whether the described field of TensorProto stores each number in exactly 4
  /// or 8 bytes. For example, float_data stores each number in 4 bytes, so
  /// `fixed` is true. The bytes of the list are then the same as the bytes of
  /// raw_data. If `fixed` is false, the field stores each number as a varint,
  /// which takes 1 to 10 bytes. An example is int64_data.
  bool fixed = false;
};

} // namespace

/// Returns whether field number `field` of TensorProto stores elements as a
/// list of numbers. An example is field 4, float_data.
static bool isTypedField(uint32_t field) {
  return field == 4 || field == 5 || field == 7 || field == 10 || field == 11;
}

/// Describes the field of TensorProto that contains the elements of a tensor of
/// the type `type` as a list of numbers. Example: for the type Float, this
/// field is float_data. It has the number 4, and each number takes 4 bytes. For
/// the types String and Undefined, TensorProto has no list of numbers. The
/// member `field` of the result is then 0.
static TypedField typedFieldOf(DataType type) {
  switch (type) {
  case DataType::Float:
  case DataType::Complex64:
    return {4, 4, /*fixed=*/true};
  case DataType::Double:
  case DataType::Complex128:
    return {10, 8, /*fixed=*/true};
  case DataType::Int64:
    return {7, 8, false};
  case DataType::UInt64:
    return {11, 8, false};
  case DataType::UInt32:
    return {11, 4, false};
  case DataType::String:
  case DataType::Undefined:
    return {};
  default:
    return {5, std::max(bitWidth(type) / 8, 1u), false};
  }
}

/// Appends the low `size` bytes of `value` to `raw`, lowest byte first.
static void appendBytes(std::string &raw, uint64_t value, unsigned size) {
  raw.append(reinterpret_cast<const char *>(&value), size);
}

/// Appends the numbers in the current field of `wire` to `raw`. The numbers are
/// elements of a tensor; the field holds one number or a list of numbers. The
/// appended bytes have the layout of raw_data: each number has
/// `typed.valueBytes` bytes, with the lowest byte first. Example: two floats
/// append 8 bytes. `typed` describes the field, such as float_data.
static void appendElements(const WireReader &wire, const TypedField &typed,
                           std::string &raw) {
  if (!wire.hasBytes()) {
    if (wire.fixedSize() != (typed.fixed ? typed.valueBytes : 0))
      throw WireError{"field " + std::to_string(wire.field()) +
                      " of a tensor has a wire type that is not that of ONNX"};
    return appendBytes(raw, wire.scalar(), typed.valueBytes);
  }
  if (typed.fixed) {
    raw += wire.bytes();
    return;
  }
  std::vector<int64_t> values;
  wire.appendIntegers(values);
  raw.reserve(raw.size() + values.size() * typed.valueBytes);
  for (int64_t value : values)
    appendBytes(raw, static_cast<uint64_t>(value), typed.valueBytes);
}

/// Sets `tensor.raw` to the elements that the TensorProto `message` stores as
/// numbers, such as in float_data. If the elements need no conversion,
/// `tensor.raw` points into the file. Otherwise it points to an array in
/// `storage`.
void ModelParser::typedElements(std::string_view message, Tensor &tensor) {
  const TypedField typed = typedFieldOf(tensor.dataType);
  std::string decoded;
  std::string_view viewed;
  bool first = true;
  for (WireReader wire(message); wire.next();) {
    if (!isTypedField(wire.field()))
      continue;
    if (wire.hasBytes() && wire.bytes().empty())
      continue;
    if (wire.field() != typed.field)
      throw InvalidMessage{"tensor " + quoted(tensor.name) + " of type " +
                           typeName(tensor.dataType) +
                           " has elements in field " +
                           std::to_string(wire.field())};
    if (first && typed.fixed && wire.hasBytes()) {
      viewed = wire.bytes();
    } else {
      decoded += viewed;
      viewed = {};
      appendElements(wire, typed, decoded);
    }
    first = false;
  }
  if (!decoded.empty())
    viewed = storage.keep(std::move(decoded));
  if (viewed.empty())
    return;
  if (!tensor.raw.empty())
    throw InvalidMessage{"tensor " + quoted(tensor.name) +
                         " has both raw and typed elements"};
  tensor.raw = viewed;
}

/// Parses `message`, which is an encoded TensorProto. Stores the result in
/// `tensor`. A TensorProto may store the elements of the tensor as a list of
/// numbers, for example in the field float_data. The method parses this list
/// last. It must first know the element type, which may come after the list in
/// `message`.
void ModelParser::tensor(std::string_view message, Tensor &tensor) {
  NestingLevel level(*this);
  bool hasTyped = false;
  bool isExternal = false;
  ExternalLocation location;
  for (WireReader wire(message); wire.next();) {
    hasTyped |= isTypedField(wire.field());
    switch (wire.field()) {
    case 1:
      wire.appendIntegers(tensor.dims);
      break;
    case 2:
      tensor.dataType = static_cast<DataType>(wire.integer());
      break;
    case 3:
      throw InvalidMessage{"tensor " + quoted(tensor.name) + " is a segment"};
    case 6:
      tensor.strings.push_back(wire.bytes());
      break;
    case 8:
      tensor.name = wire.bytes();
      break;
    case 9:
      tensor.raw = wire.bytes();
      break;
    case 13:
      externalEntry(wire.bytes(), location);
      break;
    case 14:
      isExternal = wire.integer() == 1;
      break;
    case 16:
      append(wire, tensor.metadata, &ModelParser::metadata);
      break;
    default:
      break;
    }
  }
  if (const std::string claim = unknownType(tensor.dataType); !claim.empty())
    throw InvalidMessage{"tensor " + quoted(tensor.name) + " " + claim};
  if (isExternal)
    tensor.external = location;
  if (hasTyped)
    typedElements(message, tensor);
  checkTensor(tensor);
}

void ModelParser::externalEntry(std::string_view message,
                                ExternalLocation &location) {
  MetadataEntry entry;
  metadata(message, entry);
  if (entry.key == "location")
    location.location = entry.value;
  else if (entry.key == "offset")
    location.offset = entry.value;
  else if (entry.key == "length")
    location.length = entry.value;
}

/// Throws InvalidMessage if `tensor` has too many dims, a negative dim, or
/// elements that do not fit its type and shape. For an unknown element type,
/// does not check the number of elements.
void ModelParser::checkTensor(const Tensor &tensor) const {
  const auto refuse = [&](const std::string &claim) {
    throw InvalidMessage{"tensor " + quoted(tensor.name) + " " + claim};
  };
  if (tensor.dims.size() > limits.rank)
    refuse("has more than " + counted(limits.rank, "dim") + ", got " +
           std::to_string(tensor.dims.size()));
  const std::optional<uint64_t> elements = numElements(tensor.dims);
  if (!elements)
    refuse("has a negative dim or too many elements");
  if (tensor.dataType == DataType::String) {
    if (tensor.strings.size() != *elements || !tensor.raw.empty() ||
        tensor.external)
      refuse("needs " + std::to_string(*elements) + " strings, got " +
             std::to_string(tensor.strings.size()));
    return;
  }
  if (!tensor.strings.empty())
    refuse("of type " + typeName(tensor.dataType) + " has strings");
  if (bitWidth(tensor.dataType) == 0)
    return;
  const std::optional<uint64_t> bytes = byteSize(tensor.dataType, tensor.dims);
  if (!bytes)
    refuse("has too many elements");
  if (tensor.external && !tensor.raw.empty())
    refuse("is external and has elements too");
  if (!tensor.external && tensor.raw.size() != *bytes)
    refuse("needs " + counted(*bytes, "byte") + ", got " +
           std::to_string(tensor.raw.size()));
}

void ModelParser::sparseTensor(std::string_view message, SparseTensor &tensor) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      tensor.values = {}, this->tensor(wire.bytes(), tensor.values);
    else if (wire.field() == 2)
      tensor.indices = {}, this->tensor(wire.bytes(), tensor.indices);
    else if (wire.field() == 3)
      wire.appendIntegers(tensor.dims);
  }
  if (!numElements(tensor.dims))
    throw InvalidMessage{"sparse tensor " + quoted(tensor.values.name) +
                         " has a negative dim or too many elements"};
}
