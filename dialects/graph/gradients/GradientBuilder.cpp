//===- GradientBuilder.cpp - builder of the gradient of one op ------------===//

#include "dialects/graph/gradients/GradientBuilder.h"

using namespace mlir;
using namespace pcc::graph;

Value GradientBuilder::like(Value value, double number) {
  return scalar(tensorType(value).getElementType(), number);
}

Value GradientBuilder::table(ArrayRef<double> numbers, ArrayRef<int64_t> shape,
                             Value value) {
  auto type = RankedTensorType::get(shape, tensorType(value).getElementType());
  auto attributes = llvm::map_to_vector(numbers, [&](double number) {
    return Attribute(getFloatAttr(type.getElementType(), number));
  });
  return make<ConstantOp>(type, DenseElementsAttr::get(type, attributes));
}

Value GradientBuilder::zeros(RankedTensorType type) {
  return broadcast(scalar(type.getElementType(), 0), type.getShape());
}

Value GradientBuilder::isZero(Value value) {
  return compare(Predicate::Equal, value, like(value, 0));
}

Value GradientBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return make<SelectOp>(condition, onTrue, onFalse);
}

Value GradientBuilder::where(Value condition, Value value) {
  return select(condition, value, like(value, 0));
}

Value GradientBuilder::except(Value condition, Value value) {
  return select(condition, like(value, 0), value);
}

Value GradientBuilder::broadcast(Value value, ArrayRef<int64_t> shape) {
  auto type = tensorType(value).clone(shape);
  return type == value.getType() ? value : make<BroadcastOp>(type, value);
}

Value GradientBuilder::transpose(Value value, ArrayRef<int64_t> perm) {
  bool identity = llvm::is_sorted(perm);
  return identity ? value : make<TransposeOp>(value, perm);
}

Value GradientBuilder::pad(Value value, ArrayRef<int64_t> low,
                           ArrayRef<int64_t> high, double fill) {
  auto isNothing = [](int64_t count) { return count == 0; };
  if (llvm::all_of(low, isNothing) && llvm::all_of(high, isNothing))
    return value;
  return make<PadOp>(PadMode::Constant, value, like(value, fill), low, high);
}

Value GradientBuilder::slice(Value value, int64_t dim, int64_t start,
                             int64_t size, int64_t step) {
  SmallVector<int64_t> sizes(tensorType(value).getShape()),
      starts(sizes.size(), 0), steps(sizes.size(), 1);
  if (sizes[dim] == size && step == 1)
    return value;
  starts[dim] = start;
  sizes[dim] = size;
  steps[dim] = step;
  return make<SliceOp>(value, starts, sizes, steps);
}

Value GradientBuilder::reduce(ReduceKind kind, Value value,
                              ArrayRef<int64_t> dims) {
  return make<ReduceOp>(kind, value, dims, /*keep=*/true, IntegerAttr());
}

Value GradientBuilder::sumTo(Value gradient, Value operand) {
  ArrayRef<int64_t> from = tensorType(gradient).getShape(),
                    to = tensorType(operand).getShape();
  size_t leading = from.size() - to.size();
  SmallVector<int64_t> dims;
  for (size_t dim = 0; dim < from.size(); ++dim)
    if (from[dim] != 1 && (dim < leading || to[dim - leading] == 1))
      dims.push_back(static_cast<int64_t>(dim));
  if (!dims.empty())
    gradient = sum(gradient, dims);
  return castLike(reshape(gradient, to), operand);
}

Value GradientBuilder::widen(Value value) {
  auto type = cast<FloatType>(tensorType(value).getElementType());
  return type.getWidth() < 32 ? TensorBuilder::cast(value, getF32Type())
                              : value;
}

Value GradientBuilder::castLike(Value value, Value model) {
  return TensorBuilder::cast(value, tensorType(model).getElementType());
}

Gradients pcc::graph::onlyGradient(Value gradient) {
  return SmallVector<Value>{gradient};
}
