//===- SinkBroadcasts.cpp - sinking of broadcasts below other ops ---------===//

#include "passes/1-import/build/SinkBroadcasts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

using Shape = SmallVector<int64_t>;

/// If a broadcast op defines `value`, returns that op's operand. Otherwise
/// returns `value`.
static Value sourceOf(Value value) {
  auto repeated = value.getDefiningOp<BroadcastOp>();
  return repeated ? repeated.getInput() : value;
}

/// Returns the shape of sourceOf(value), the tensor before its broadcast. Adds
/// leading dims of size 1 up to the rank of `value`.
static Shape sourceShape(Value value) {
  ArrayRef<int64_t> source = shapeOf(sourceOf(value));
  Shape shape(shapeOf(value).size() - source.size(), 1);
  llvm::append_range(shape, source);
  return shape;
}

/// Returns whether `value` is a broadcast along `dim`, so that all its slices
/// along `dim` are equal.
static bool repeats(Value value, size_t dim) {
  return shapeOf(value)[dim] > 1 && sourceShape(value)[dim] == 1;
}

/// Keeps one slice of `value` along each of `dims`, so that these dims get size
/// 1. `value` must be a broadcast along these dims.
static Value narrow(Value value, ArrayRef<size_t> dims, Emitter &emitter) {
  Shape shape(shapeOf(value));
  for (size_t dim : dims)
    shape[dim] = 1;
  return emitter.broadcast(emitter.reshape(sourceOf(value), sourceShape(value)),
                           shape);
}

/// Returns each dim along which every one of `values` is a broadcast and
/// therefore has equal slices. All `values` must have the same rank.
static SmallVector<size_t> commonRepeats(ValueRange values) {
  SmallVector<size_t> dims;
  for (size_t dim = 0; dim < shapeOf(values.front()).size(); ++dim)
    if (llvm::all_of(values, [&](Value value) { return repeats(value, dim); }))
      dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Sinking below one op: each function returns null if nothing gets smaller
//===----------------------------------------------------------------------===//

/// Computes the element-wise op `op` before the broadcasts of its operands, and
/// broadcasts the result:
///
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
///
/// Returns the new broadcast. Returns null if the new op would not have fewer
/// elements than `op`.
static Value sinkElementWise(Operation *op, Emitter &emitter) {
  SmallVector<Value> sources = llvm::map_to_vector(op->getOperands(), sourceOf);
  Shape inner;
  for (Value source : sources)
    inner = *broadcastShapes(inner, shapeOf(source));
  RankedTensorType whole = tensorType(op->getResult(0));
  if (ShapedType::getNumElements(inner) >= whole.getNumElements())
    return {};
  Operation *small = emitter.getBuilder().clone(*op);
  small->setOperands(sources);
  small->getResult(0).setType(whole.clone(inner));
  return emitter.broadcast(emitter.finish(small), whole.getShape());
}

/// Creates concat(a, b) for concat(broadcast a, broadcast b). The caller
/// broadcasts the result. All operands must be broadcast along a common dim
/// that is not the dim of the concat. Otherwise returns null.
static Value sink(ConcatOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInputs());
  llvm::erase(dims, op.getDim());
  if (dims.empty())
    return {};
  SmallVector<Value> parts;
  for (Value input : op.getInputs())
    parts.push_back(narrow(input, dims, emitter));
  return emitter.concat(parts, op.getDim());
}

/// Creates slice(a) for slice(broadcast a). The caller broadcasts the result.
/// Returns null if the operand is not a broadcast, or if the slice has no
/// elements.
static Value sink(SliceOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInput());
  if (dims.empty() || tensorType(op.getResult()).getNumElements() == 0)
    return {};
  Shape starts(op.getStarts()), sizes(op.getSizes()), steps(op.getSteps());
  for (size_t dim : dims) {
    starts[dim] = 0;
    sizes[dim] = steps[dim] = 1;
  }
  return emitter.make<SliceOp>(narrow(op.getInput(), dims, emitter), starts,
                               sizes, steps);
}

/// Creates transpose(a) for transpose(broadcast a). The caller broadcasts the
/// result. Returns null if the operand is not a broadcast.
static Value sink(TransposeOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInput());
  return dims.empty() ? Value()
                      : emitter.transpose(narrow(op.getInput(), dims, emitter),
                                          op.getPerm());
}

/// Creates cumsum(a) for cumsum(broadcast a). The caller broadcasts the result.
/// The operand must be broadcast along a dim that is not the summed dim.
/// Otherwise returns null.
static Value sink(CumSumOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInput());
  llvm::erase(dims, op.getDim());
  if (dims.empty())
    return {};
  return emitter.make<CumSumOp>(narrow(op.getInput(), dims, emitter),
                                op.getDim(), op.getExclusive(),
                                op.getReverse());
}

/// Creates reshape(a) for reshape(broadcast a). The caller broadcasts the
/// result. Returns null in these cases:
///
///  - the reshape does more than add or remove dims of size 1
///  - the operand is not a broadcast
///  - the operand has no elements
static Value sink(ReshapeOp op, Emitter &emitter) {
  Value input = op.getInput();
  SmallVector<size_t> dims = commonRepeats(input);
  Shape shape(shapeOf(op.getResult()));
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(input))) {
    if (size == 1)
      continue;
    while (next < shape.size() && shape[next] == 1)
      ++next;
    if (next == shape.size() || shape[next] != size)
      return {};
    if (llvm::is_contained(dims, dim))
      shape[next] = 1;
    ++next;
  }
  if (dims.empty() || tensorType(input).getNumElements() == 0)
    return {};
  return emitter.reshape(narrow(input, dims, emitter), shape);
}

Value sinkBroadcasts(Operation *op, Emitter &emitter) {
  bool any = llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp<BroadcastOp>();
  });
  if (!any || op->getNumResults() != 1)
    return {};
  if (op->hasTrait<IsElementWise>())
    return sinkElementWise(op, emitter);
  Value small;
  if (auto concat = dyn_cast<ConcatOp>(op))
    small = sink(concat, emitter);
  else if (auto slice = dyn_cast<SliceOp>(op))
    small = sink(slice, emitter);
  else if (auto transpose = dyn_cast<TransposeOp>(op))
    small = sink(transpose, emitter);
  else if (auto sum = dyn_cast<CumSumOp>(op))
    small = sink(sum, emitter);
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    small = sink(reshape, emitter);
  return small ? emitter.broadcast(small, shapeOf(op->getResult(0))) : Value();
}

void absorbBroadcasts(Operation *op) {
  if (!op->hasTrait<IsElementWise>() || op->getNumOperands() < 2)
    return;
  ArrayRef<int64_t> whole = shapeOf(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    Value repeated = operand.get();
    operand.set(sourceOf(repeated));
    Shape shape;
    for (Value other : op->getOperands())
      shape = *broadcastShapes(shape, shapeOf(other));
    if (ArrayRef<int64_t>(shape) != whole)
      operand.set(repeated);
  }
}

} // namespace pcc::onnx_import
