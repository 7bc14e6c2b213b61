//===- DenseElements.cpp - operations on elements of constant tensors -----===//

#include "passes/1-import/build/DenseElements.h"
#include "dialects/graph/reference/Arithmetic.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pcc::onnx_import {

/// Returns the number of bytes per element, where a boolean takes a whole byte.
static size_t byteWidth(Type elementType) {
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

/// Returns the bytes of all elements of `value`, row-major. A splat is
/// expanded: its single element is repeated for every index of the tensor.
static std::vector<char> toBytes(DenseElementsAttr value) {
  size_t count = value.getNumElements(),
         width = byteWidth(value.getElementType());
  std::vector<char> bytes;
  bytes.reserve(count * width);
  if (value.getElementType().isInteger(1)) {
    for (bool element : value.getValues<bool>())
      bytes.push_back(element);
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  for (size_t i = 0, n = value.isSplat() ? count : 1; i < n; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

DenseElementsAttr elementsFromBytes(RankedTensorType type, StringRef bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(bytes.data(), bytes.size()));
  SmallVector<bool> values;
  for (char byte : bytes)
    values.push_back(byte != 0);
  return DenseElementsAttr::get(type, values);
}

static DenseElementsAttr fromBytes(RankedTensorType type,
                                   const std::vector<char> &bytes) {
  return elementsFromBytes(type, StringRef(bytes.data(), bytes.size()));
}

DenseElementsAttr broadcastElements(DenseElementsAttr value,
                                    ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  if (value.isSplat())
    return value.resizeSplat(type);
  // `source` is the shape of `value` with additional leading dims of size 1.
  // `source` has as many dims as `shape`. For example, `value` has the shape
  // [4], and `shape` is [2, 3, 4]. `source` is then [1, 1, 4].
  SmallVector<int64_t> source(shape.size() - value.getType().getRank(), 1);
  llvm::append_range(source, value.getType().getShape());
  SmallVector<int64_t> strides = computeStrides(source),
                       whole = computeStrides(shape);
  std::vector<char> from = toBytes(value), to;
  size_t width = byteWidth(type.getElementType());
  for (int64_t i = 0, n = type.getNumElements(); i < n; ++i) {
    int64_t offset = 0;
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (source[dim] != 1)
        offset += i / whole[dim] % shape[dim] * stride;
    to.insert(to.end(), from.begin() + offset * width,
              from.begin() + (offset + 1) * width);
  }
  return fromBytes(type, to);
}

/// Returns whether all slices of a tensor along one of its dims, dim k, are
/// equal. `bytes` holds the elements of the tensor, row-major. `outer` is the
/// product of the sizes of all dims before dim k. `size` is the size of dim k.
/// `inner` is the product of the sizes of all dims after dim k, times the
/// number of bytes of one element. For example, the slices of [[1, 2], [1, 2]]
/// along dim 0 are equal, but the slices along dim 1 differ.
static bool repeats(const std::vector<char> &bytes, size_t outer, size_t size,
                    size_t inner) {
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 1; i < size; ++i)
      if (!std::equal(bytes.begin() + o * size * inner,
                      bytes.begin() + (o * size + 1) * inner,
                      bytes.begin() + (o * size + i) * inner))
        return false;
  return true;
}

DenseElementsAttr dropRepeats(DenseElementsAttr value) {
  SmallVector<int64_t> shape(value.getType().getShape());
  auto type = cast<RankedTensorType>(value.getType());
  if (value.getNumElements() == 0)
    return value;
  std::vector<char> bytes = toBytes(value);
  size_t outer = 1, inner = bytes.size();
  for (int64_t &size : shape) {
    inner /= size;
    if (size > 1 && repeats(bytes, outer, size, inner)) {
      std::vector<char> kept;
      for (size_t o = 0; o < outer; ++o)
        kept.insert(kept.end(), bytes.begin() + o * size * inner,
                    bytes.begin() + (o * size + 1) * inner);
      bytes = std::move(kept);
      size = 1;
    }
    outer *= size;
  }
  return fromBytes(type.clone(shape), bytes);
}

SmallVector<int64_t> toIntegers(DenseElementsAttr value) {
  SmallVector<int64_t> result;
  if (isa<FloatType>(value.getElementType())) {
    for (double element : toDoubles(value))
      result.push_back(graph::truncated(element));
    return result;
  }
  bool isUnsigned = value.getElementType().isUnsignedInteger() ||
                    value.getElementType().isInteger(1);
  for (APInt element : value.getValues<APInt>())
    result.push_back(isUnsigned ? element.getZExtValue()
                                : element.getSExtValue());
  return result;
}

SmallVector<double> toDoubles(DenseElementsAttr value) {
  if (!isa<FloatType>(value.getElementType()))
    return llvm::map_to_vector(toIntegers(value), [](int64_t element) {
      return static_cast<double>(element);
    });
  SmallVector<double> result;
  for (APFloat element : value.getValues<APFloat>()) {
    bool losesInfo;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    result.push_back(element.convertToDouble());
  }
  return result;
}

Attribute numberAttr(Type elementType, double value) {
  if (isa<FloatType>(elementType))
    return FloatAttr::get(elementType, value);
  unsigned width = elementType.getIntOrFloatBitWidth();
  return IntegerAttr::get(elementType,
                          APInt(width, graph::truncated(value),
                                /*isSigned=*/true, /*implicitTrunc=*/true));
}

} // namespace pcc::onnx_import
