//===- HostTensor.cpp - tensors in host memory and constants --------------===//

#include "dialects/graph/reference/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

ElementKind pcc::graph::kindOf(Type elementType) {
  if (isa<FloatType>(elementType))
    return ElementKind::Float;
  return elementType.isInteger(1) ? ElementKind::Bool : ElementKind::Int;
}

HostTensor HostTensor::zeros(ArrayRef<int64_t> shape, ElementKind kind) {
  HostTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.kind = kind;
  int64_t size = ShapedType::getNumElements(shape);
  if (kind == ElementKind::Float)
    tensor.floats.resize(size);
  else
    tensor.ints.resize(size);
  return tensor;
}

HostTensor HostTensor::zeros(RankedTensorType type) {
  return zeros(type.getShape(), kindOf(type.getElementType()));
}

HostTensor HostTensor::ofFloats(ArrayRef<int64_t> shape,
                                std::vector<double> values) {
  HostTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.floats = std::move(values);
  return tensor;
}

HostTensor HostTensor::ofInts(ArrayRef<int64_t> shape,
                              std::vector<int64_t> values) {
  HostTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.kind = ElementKind::Int;
  tensor.ints = std::move(values);
  return tensor;
}

int64_t HostTensor::numElements() const {
  return ShapedType::getNumElements(shape);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool pcc::graph::isReadable(Attribute attr) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(attr);
  return elements && isa<RankedTensorType>(elements.getType()) &&
         elements.getElementType().isIntOrFloat();
}

/// Stores the elements of `attr`, floats of any width, in `out` as doubles.
/// `out` has one entry per element.
static void readFloats(DenseElementsAttr attr, std::vector<double> &out) {
  if (attr.getElementType().isF32())
    llvm::copy(attr.getValues<float>(), out.begin());
  else if (attr.getElementType().isF64())
    llvm::copy(attr.getValues<double>(), out.begin());
  else
    for (auto [i, value] : llvm::enumerate(attr.getValues<APFloat>())) {
      bool losesInfo;
      APFloat wide = value;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
      out[i] = wide.convertToDouble();
    }
}

/// Stores the elements of `attr`, integers of any width, in `out` as int64_t.
/// Booleans and unsigned integers are zero-extended, all other integers
/// sign-extended.
static void readInts(DenseElementsAttr attr, std::vector<int64_t> &out) {
  Type type = attr.getElementType();
  bool zeroExtend = type.isUnsignedInteger() || type.isInteger(1);
  for (auto [i, value] : llvm::enumerate(attr.getValues<APInt>()))
    out[i] = zeroExtend ? static_cast<int64_t>(value.getZExtValue())
                        : value.getSExtValue();
}

HostTensor pcc::graph::toHost(DenseElementsAttr attr) {
  assert(isReadable(attr) && "no constant of numbers");
  HostTensor tensor = HostTensor::zeros(cast<RankedTensorType>(attr.getType()));
  if (tensor.kind == ElementKind::Float)
    readFloats(attr, tensor.floats);
  else
    readInts(attr, tensor.ints);
  return tensor;
}

/// Returns `values`, or only the first value if all values have equal bits (a
/// splat).
template <typename T> static ArrayRef<T> splatIfEqual(ArrayRef<T> values) {
  bool equal = !values.empty() && llvm::all_of(values, [&](T value) {
    return std::bit_cast<uint64_t>(value) ==
           std::bit_cast<uint64_t>(values.front());
  });
  return equal ? values.take_front() : values;
}

/// Returns a float constant of `type`. `values` has one entry per element, or a
/// single entry for a splat.
static DenseElementsAttr floatAttribute(ArrayRef<double> values,
                                        RankedTensorType type) {
  auto elementType = cast<FloatType>(type.getElementType());
  if (elementType.isF64())
    return DenseElementsAttr::get(type, values);
  if (elementType.isF32())
    return DenseElementsAttr::get(type, ArrayRef(SmallVector<float>(values)));
  SmallVector<APFloat> narrow;
  for (double value : values) {
    bool losesInfo;
    narrow.emplace_back(value);
    narrow.back().convert(elementType.getFloatSemantics(),
                          APFloat::rmNearestTiesToEven, &losesInfo);
  }
  return DenseElementsAttr::get(type, narrow);
}

/// Returns a constant of type `type` with the elements `values`. `type` is a
/// tensor type with integer elements of w bits. Each element of the constant
/// holds the low w bits of the element of `values` with the same index. If
/// `values` has only one element, all elements of the constant hold the low w
/// bits of this element.
static DenseElementsAttr intAttribute(ArrayRef<int64_t> values,
                                      RankedTensorType type) {
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> narrow;
  for (int64_t value : values)
    narrow.push_back(APInt(64, value).trunc(width));
  return DenseElementsAttr::get(type, narrow);
}

DenseElementsAttr pcc::graph::toAttribute(const HostTensor &tensor,
                                          RankedTensorType type) {
  if (tensor.kind == ElementKind::Float)
    return floatAttribute(splatIfEqual(ArrayRef(tensor.floats)), type);
  return intAttribute(splatIfEqual(ArrayRef(tensor.ints)), type);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Returns the multiple of 2^lowest nearest to `value` that has at most
/// `precision` significant bits, ties to even. Returns an infinity if its
/// magnitude exceeds `largest`. Returns zeros, infinities and NaNs unchanged.
static double roundBits(double value, int precision, int lowest,
                        double largest) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent;
  std::frexp(value, &exponent);
  int unit = std::max(exponent - precision, lowest);
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

/// Rounds each element of `values` to the nearest number of `type`.
static void roundFloats(FloatType type, std::vector<double> &values) {
  if (type.isF64())
    return;
  if (type.isF32()) {
    for (double &value : values)
      value = static_cast<float>(value);
    return;
  }
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int precision = APFloat::semanticsPrecision(semantics);
  int lowest = APFloat::semanticsMinExponent(semantics) - precision + 1;
  double largest = APFloat::getLargest(semantics).convertToDouble();
  for (double &value : values)
    value = roundBits(value, precision, lowest, largest);
}

void pcc::graph::wrapTo(Type elementType, HostTensor &tensor) {
  if (tensor.kind != ElementKind::Int)
    return;
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (width >= 64)
    return;
  for (int64_t &value : tensor.ints)
    value = elementType.isUnsignedInteger()
                ? static_cast<int64_t>(value &
                                       llvm::maskTrailingOnes<uint64_t>(width))
                : llvm::SignExtend64(value, width);
}

void pcc::graph::roundTo(Type elementType, HostTensor &tensor) {
  if (tensor.kind == ElementKind::Float)
    roundFloats(cast<FloatType>(elementType), tensor.floats);
  else
    wrapTo(elementType, tensor);
}
