//===- Position.cpp - values that depend on which rank computes them ------===//

#include "passes/5-localize/Position.h"
#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

PositionBuilder::PositionBuilder(Operation *before)
    : OpBuilder(before), location(before->getLoc()),
      stage(before->getAttr("pipe.stage")) {}

void PositionBuilder::mark(Operation *op) {
  if (stage)
    op->setAttr("pipe.stage", stage);
}

Value PositionBuilder::globalIndex(const dist::DimSharding &dim, int64_t size) {
  dist::Sharding sharding = dist::Sharding::whole(1);
  sharding.dims[0] = dim;
  sharding = dist::placement(sharding);
  auto type =
      dist::localType(RankedTensorType::get({size}, getI64Type()), sharding);
  return make<dist::GlobalIndexOp>(
      type, dist::ShardingAttr::get(getContext(), sharding),
      getI64IntegerAttr(size));
}

Value PositionBuilder::along(Value vector, int64_t dim, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = graph::tensorType(vector).getDimSize(0);
  return reshape(vector, shape);
}

/// `value` as an attribute of `type`; infinities become the ends of an
/// integer's range.
static TypedAttr numberAttr(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, value);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = !type.isUnsignedInteger() && width > 1;
  if (value == std::numeric_limits<double>::infinity())
    return IntegerAttr::get(type, isSigned ? APInt::getSignedMaxValue(width)
                                           : APInt::getMaxValue(width));
  if (value == -std::numeric_limits<double>::infinity())
    return IntegerAttr::get(type, isSigned ? APInt::getSignedMinValue(width)
                                           : APInt::getMinValue(width));
  return IntegerAttr::get(
      type, APInt(width, static_cast<uint64_t>(static_cast<int64_t>(value)),
                  isSigned, /*implicitTrunc=*/true));
}

Value PositionBuilder::scalar(Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  return make<graph::ConstantOp>(
      type, DenseElementsAttr::get(
                type, ArrayRef<Attribute>(numberAttr(elementType, value))));
}

Value PositionBuilder::compare(graph::Predicate predicate, Value lhs,
                               Value rhs) {
  return make<graph::CompareOp>(
      graph::PredicateAttr::get(getContext(), predicate), lhs, rhs);
}

Value PositionBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = graph::tensorType(value).clone(shape);
  return type == value.getType() ? value : make<graph::ReshapeOp>(type, value);
}

Value PositionBuilder::cast(Value value, Type elementType) {
  auto type =
      RankedTensorType::get(graph::tensorType(value).getShape(), elementType);
  return type == value.getType() ? value : make<graph::CastOp>(type, value);
}

double pcc::localize::neutralOf(graph::FactorKind kind, Type elementType) {
  switch (kind) {
  case graph::FactorKind::Max:
    return -std::numeric_limits<double>::infinity();
  case graph::FactorKind::Min:
    return std::numeric_limits<double>::infinity();
  case graph::FactorKind::Prod:
    return 1;
  default:
    return 0;
  }
}
