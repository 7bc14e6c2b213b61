//===- TensorBuilder.cpp - base class of builders of graph ops ------------===//

#include "dialects/graph/TensorBuilder.h"
#include "dialects/graph/ScalarAttr.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;

Value TensorBuilder::scalar(Type elementType, double value) {
  DenseElementsAttr number = scalarAttr(elementType, value);
  return make<ConstantOp>(number.getType(), number);
}

Value TensorBuilder::compare(Predicate predicate, Value lhs, Value rhs) {
  return make<CompareOp>(PredicateAttr::get(getContext(), predicate), lhs, rhs);
}

Value TensorBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = tensorType(value).clone(shape);
  return type == value.getType() ? value : make<ReshapeOp>(type, value);
}

Value TensorBuilder::cast(Value value, Type elementType) {
  auto type = RankedTensorType::get(tensorType(value).getShape(), elementType);
  return type == value.getType() ? value : make<CastOp>(type, value);
}
