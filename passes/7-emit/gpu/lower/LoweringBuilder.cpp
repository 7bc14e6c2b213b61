//===- LoweringBuilder.cpp - builder of the ops that replace one op -------===//

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"
#include "dialects/dist/DistDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

bool LoweringBuilder::replaceEmpty() {
  auto hasElements = [](Value result) {
    return tensorType(result).getNumElements() > 0;
  };
  if (llvm::any_of(op->getResults(), hasElements))
    return false;
  SmallVector<Value> nothing;
  for (Value result : op->getResults())
    nothing.push_back(make<ConstantOp>(
        result.getType(),
        DenseElementsAttr::get(tensorType(result), ArrayRef<Attribute>())));
  replaceWith(nothing);
  return true;
}

/// Returns the rank (number of dims) of each result of `op`.
static SmallVector<int64_t> ranksOf(Operation *op) {
  return llvm::map_to_vector(op->getResults(), [](Value result) {
    return graph::tensorType(result).getRank();
  });
}

void LoweringBuilder::finish(Operation *made) {
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (ranksOf(made) != ranksOf(op))
    made->removeDiscardableAttr(dist::shardingsName);
  if (!isa<graph::EinsumOp>(made))
    made->removeDiscardableAttr(graph::chosenName);
}

void LoweringBuilder::replaceWith(ValueRange values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    result.replaceAllUsesWith(reshape(value, shapeOf(result)));
  op->erase();
}

Value LoweringBuilder::positions(int64_t size, int64_t dim, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = size;
  return make<IotaOp>(RankedTensorType::get(shape, getI64Type()),
                      static_cast<uint64_t>(dim));
}

Value LoweringBuilder::reduce(ReduceKind kind, Value value,
                              ArrayRef<int64_t> dims) {
  return make<ReduceOp>(kind, value, dims, /*keep=*/false, IntegerAttr());
}

Value LoweringBuilder::selectOr(Value condition, Value value, double number) {
  return make<SelectOp>(condition, value,
                        scalar(tensorType(value).getElementType(), number));
}

Value LoweringBuilder::indicatorOf(Value condition) {
  return make<SelectOp>(condition, integer(1), integer(0));
}

Value LoweringBuilder::transpose(Value value, ArrayRef<int64_t> perm) {
  return make<TransposeOp>(value, perm);
}

Value LoweringBuilder::broadcast(Value value, ArrayRef<int64_t> shape) {
  return make<BroadcastOp>(tensorType(value).clone(shape), value);
}

Value LoweringBuilder::pad(Value value, ArrayRef<int64_t> low,
                           ArrayRef<int64_t> high, double number) {
  auto isZero = [](int64_t count) { return count == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  return make<PadOp>(PadMode::Constant, value,
                     scalar(tensorType(value).getElementType(), number), low,
                     high);
}

Type pcc::emit::sumType(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}
