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

/// Returns the shape of the operand of the broadcast op that defines `value`.
/// Adds dims of size 1 at the front, so that the shape has as many dims as
/// `value`. For example, if `value` is the broadcast of a tensor of the shape
/// [4] to [8, 4], returns [1, 4]. If no broadcast op defines `value`, returns
/// the shape of `value`.
static Shape sourceShape(Value value) {
  ArrayRef<int64_t> source = shapeOf(sourceOf(value));
  Shape shape(shapeOf(value).size() - source.size(), 1);
  llvm::append_range(shape, source);
  return shape;
}

/// Returns whether `value` is the result of a broadcast op that repeats its
/// operand along the dim `dim`. For example, let `value` be broadcast(a,
/// [8, 4]), where `a` has the shape [1, 4]. The broadcast op repeats `a` 8
/// times along dim 0, so the function returns true for dim 0. The broadcast op
/// does not repeat `a` along dim 1, so the function returns false for dim 1.
static bool repeats(Value value, size_t dim) {
  return shapeOf(value)[dim] > 1 && sourceShape(value)[dim] == 1;
}

/// Creates a smaller tensor from `value`. The smaller tensor has size 1 along
/// each dim in `dims`. `value` must be the result of a broadcast op that
/// repeats its operand along each dim in `dims`. For example, let `value` be
/// broadcast(a, [8, 4]), where `a` has the shape [4], and let `dims` be [0].
/// All 8 rows of `value` are equal. The function creates a tensor of the shape
/// [1, 4] that contains one of these rows.
static Value narrow(Value value, ArrayRef<size_t> dims, Emitter &emitter) {
  Shape shape(shapeOf(value));
  for (size_t dim : dims)
    shape[dim] = 1;
  return emitter.broadcast(emitter.reshape(sourceOf(value), sourceShape(value)),
                           shape);
}

/// Returns the dims along which each of `values` is repeated by the broadcast
/// op that defines it. All tensors in `values` must have the same rank.
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

/// Computes the element-wise op `op` before the broadcasts of its operands:
/// broadcast(add(a, b)) instead of add(broadcast(a), broadcast(b)). Returns the
/// new result. Returns null if the new op does not compute fewer elements.
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

/// Creates a smaller concat for `op`, which concatenates broadcasts. The new
/// result still needs a broadcast to the shape of the old result. Returns null
/// unless all operands are broadcast along a common dim other than the concat
/// dim.
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

/// Creates a smaller slice for `op`, which slices a broadcast. The new result
/// still needs a broadcast to the shape of the old result. Returns null if the
/// operand is broadcast along no dim, or if the result of `op` is empty.
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

/// Creates a smaller transpose for `op`, which transposes the result of a
/// broadcast. The new result still needs a broadcast to the shape of the old
/// result. Example: for transpose(broadcast(a, [8, 4])) with `a` [1, 4],
/// creates transpose(a) of the shape [4, 1]. Returns null if the operand is
/// broadcast along no dim.
static Value sink(TransposeOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInput());
  return dims.empty() ? Value()
                      : emitter.transpose(narrow(op.getInput(), dims, emitter),
                                          op.getPerm());
}

/// Creates a smaller cumsum for `op`, whose operand is the result of a
/// broadcast. The new result still needs a broadcast to the shape of the old
/// result. Returns null unless the operand is broadcast along a dim other than
/// the dim of the cumulative sum.
static Value sink(CumSumOp op, Emitter &emitter) {
  SmallVector<size_t> dims = commonRepeats(op.getInput());
  llvm::erase(dims, op.getDim());
  if (dims.empty())
    return {};
  return emitter.make<CumSumOp>(narrow(op.getInput(), dims, emitter),
                                op.getDim(), op.getExclusive(),
                                op.getReverse());
}

/// Creates a smaller reshape for `op`, which reshapes a broadcast. The new
/// result still needs a broadcast to the shape of the old result. Returns null
/// if the operand is empty or is not broadcast, or if `op` does more than add
/// or remove dims of size 1.
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
