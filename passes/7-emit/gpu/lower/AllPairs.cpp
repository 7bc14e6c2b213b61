//===- AllPairs.cpp - reductions over all pairs of positions of a dim -----===//

#include "passes/7-emit/gpu/lower/AllPairs.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

Value pcc::emit::around(LoweringBuilder &b, Value value, int64_t dim) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return b.reshape(
      value, {ShapedType::getNumElements(shape.take_front(dim)), shape[dim],
              ShapedType::getNumElements(shape.drop_front(dim + 1))});
}

Value AllPairs::each(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (isFlat)
    return b.reshape(value, {shape[0], shape[1], 1});
  return b.reshape(value, {shape[0], 1, shape[1], shape[2]});
}

Value AllPairs::other(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (isFlat)
    return b.reshape(value, {shape[0], 1, shape[1]});
  return b.reshape(value, {shape[0], shape[1], 1, shape[2]});
}

Value AllPairs::eachPosition(int64_t size) {
  return isFlat ? b.positions(size, 1, 3) : b.positions(size, 2, 4);
}

Value AllPairs::otherPosition(int64_t size) {
  return isFlat ? b.positions(size, 2, 3) : b.positions(size, 1, 4);
}

Value AllPairs::reduce(graph::ReduceKind kind, Value pairs) {
  Value result = b.reduce(kind, pairs, {isFlat ? 2 : 1});
  ArrayRef<int64_t> shape = shapeOf(result);
  return isFlat ? b.reshape(result, {shape[0], shape[1], 1}) : result;
}
