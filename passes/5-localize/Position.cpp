//===- Position.cpp - values that depend on which rank computes them ------===//

#include "passes/5-localize/Position.h"
#include "dialects/graph/Numbers.h"

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

Value PositionBuilder::scalar(Type elementType, double value) {
  DenseElementsAttr number = graph::scalarAttr(elementType, value);
  return make<graph::ConstantOp>(number.getType(), number);
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
