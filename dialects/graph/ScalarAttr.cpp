//===- ScalarAttr.cpp - scalar constants and neutral elements -------------===//

#include "dialects/graph/ScalarAttr.h"
#include "mlir/IR/BuiltinTypes.h"
#include <limits>

using namespace mlir;
using namespace pcc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns `value` as an attribute of the float type `type`. An infinite
/// `value` becomes the largest or smallest finite number if `type` has no
/// infinities.
static TypedAttr floatAttr(FloatType type, double value) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool infinite = value == infinity || value == -infinity;
  if (infinite && !llvm::APFloat::semanticsHasInf(semantics))
    return FloatAttr::get(type,
                          llvm::APFloat::getLargest(semantics, value < 0));
  return FloatAttr::get(type, value);
}

/// Returns `value` as an attribute of the integer type `type`:
///
///   fraction        truncated toward zero, such as 2.7 to 2
///   out of range    reduced to the low bits, such as 257 to 1 for i8
///   ±infinity       the largest or smallest number of `type`
static TypedAttr integerAttr(Type type, double value) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = !type.isUnsignedInteger() && width > 1;
  if (value == infinity)
    return IntegerAttr::get(type, isSigned ? APInt::getSignedMaxValue(width)
                                           : APInt::getMaxValue(width));
  if (value == -infinity)
    return IntegerAttr::get(type, isSigned ? APInt::getSignedMinValue(width)
                                           : APInt::getMinValue(width));
  return IntegerAttr::get(
      type, APInt(width, static_cast<uint64_t>(static_cast<int64_t>(value)),
                  isSigned, /*implicitTrunc=*/true));
}

DenseElementsAttr graph::scalarAttr(Type elementType, double value) {
  auto floatType = dyn_cast<FloatType>(elementType);
  Attribute number =
      floatType ? floatAttr(floatType, value) : integerAttr(elementType, value);
  return DenseElementsAttr::get(RankedTensorType::get({}, elementType), number);
}

double graph::neutralOf(FactorKind kind) {
  switch (kind) {
  case FactorKind::Max:
    return -infinity;
  case FactorKind::Min:
    return infinity;
  case FactorKind::Prod:
    return 1;
  default:
    return 0;
  }
}
