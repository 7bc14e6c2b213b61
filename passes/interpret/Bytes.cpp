//===- Bytes.cpp - elements as they lie in files --------------------------===//

#include "passes/interpret/Bytes.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

int64_t interpret::bytesOf(Type elementType) {
  return std::max<int64_t>(1, elementType.getIntOrFloatBitWidth() / 8);
}

/// Copies elements that are stored as `Stored`.
template <typename Stored, typename To>
static void convert(const char *bytes, std::vector<To> &to) {
  for (size_t i = 0; i < to.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<To>(value);
  }
}

/// The value of a float of at most 16 bits.
static double narrowFloat(const llvm::fltSemantics &semantics, uint64_t bits) {
  llvm::APFloat value(
      semantics, llvm::APInt(APFloat::semanticsSizeInBits(semantics), bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static void readNarrow(FloatType type, const char *bytes,
                       std::vector<double> &to) {
  size_t width = interpret::bytesOf(type);
  std::vector<double> table(size_t(1) << (8 * width));
  for (size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = narrowFloat(type.getFloatSemantics(), bits);
  for (size_t i = 0; i < to.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * width, width);
    to[i] = table[bits];
  }
}

static void readInts(Type type, const char *bytes, std::vector<int64_t> &to) {
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  switch (interpret::bytesOf(type)) {
  case 1:
    return isUnsigned ? convert<uint8_t>(bytes, to)
                      : convert<int8_t>(bytes, to);
  case 2:
    return isUnsigned ? convert<uint16_t>(bytes, to)
                      : convert<int16_t>(bytes, to);
  case 4:
    return isUnsigned ? convert<uint32_t>(bytes, to)
                      : convert<int32_t>(bytes, to);
  default:
    return convert<int64_t>(bytes, to);
  }
}

HostTensor interpret::readElements(RankedTensorType type, const char *bytes) {
  HostTensor tensor = HostTensor::zeros(type);
  Type element = type.getElementType();
  if (element.isF32())
    convert<float>(bytes, tensor.floats);
  else if (element.isF64())
    convert<double>(bytes, tensor.floats);
  else if (auto narrow = dyn_cast<FloatType>(element))
    readNarrow(narrow, bytes, tensor.floats);
  else
    readInts(element, bytes, tensor.ints);
  if (tensor.kind == graph::ElementKind::Bool)
    for (int64_t &value : tensor.ints)
      value = value != 0;
  return tensor;
}
