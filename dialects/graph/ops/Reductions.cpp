//===- Reductions.cpp - types, costs of reductions, norms, scans, pools ---===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "dialects/graph/ops/Window.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

static double elements(Value value) {
  return static_cast<double>(tensorType(value).getNumElements());
}

/// Emits an error at `op` and fails unless `dim` is the index of a dim of
/// `value`.
static LogicalResult checkDim(Operation *op, int64_t dim, Value value) {
  int64_t rank = tensorType(value).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("names dim ") << dim << " of " << value.getType();
}

/// Returns the shape of a reduction of `shape` over `dims`. If `keep` is true,
/// these dims remain with size 1.
static SmallVector<int64_t> reducedShape(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> dims, bool keep) {
  SmallVector<int64_t> result;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(dims, static_cast<int64_t>(i));
    if (!reduced || keep)
      result.push_back(reduced ? 1 : size);
  }
  return result;
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  results.push_back(input.clone(
      reducedShape(input.getShape(), adaptor.getDims(), adaptor.getKeep())));
  return success();
}

/// Emits an error and fails unless the indices of the reduced dims are valid
/// and in strictly ascending order.
LogicalResult ReduceOp::verify() {
  for (int64_t dim : getDims())
    if (failed(checkDim(*this, dim, getInput())))
      return failure();
  if (!llvm::is_sorted(getDims()) ||
      std::adjacent_find(getDims().begin(), getDims().end()) != getDims().end())
    return emitOpError("lists its dims out of order or twice");
  return success();
}

double ReduceOp::getFlops() { return elements(getInput()); }

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto shape =
      reducedShape(tensorType(adaptor.getInput()).getShape(),
                   {static_cast<int64_t>(adaptor.getDim())}, adaptor.getKeep());
  results.push_back(
      RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgReduceOp::verify() {
  if (getKind() != ReduceKind::Max && getKind() != ReduceKind::Min)
    return emitOpError("has no meaning for ") << stringifyReduceKind(getKind());
  return checkDim(*this, getDim(), getInput());
}

/// Emits an error and fails unless `dim` is a dim of `input` and `input` holds
/// floats. `op` is a softmax or log_softmax.
static LogicalResult checkSoftmax(Operation *op, int64_t dim, Value input) {
  return failure(failed(checkDim(op, dim, input)) ||
                 failed(checkFloats(op, input)));
}

LogicalResult SoftmaxOp::verify() {
  return checkSoftmax(*this, getDim(), getInput());
}
double SoftmaxOp::getFlops() { return 4 * elements(getInput()); }
LogicalResult LogSoftmaxOp::verify() {
  return checkSoftmax(*this, getDim(), getInput());
}
double LogSoftmaxOp::getFlops() { return 4 * elements(getInput()); }
LogicalResult CumSumOp::verify() {
  return checkDim(*this, getDim(), getInput());
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Emits an error and fails unless the operands of `op` are valid. `op` is a
/// layer norm or an RMS norm. `input` is the tensor that `op` normalizes over
/// dim `dim` and all later dims. `weights` holds the scale and, if present, the
/// bias. The shape of each weight must consist of the sizes of the normalized
/// dims. For `input` [2, 3, 4] and `dim` 1, the weights must have the shape
/// [3, 4]. All operands must hold floats. `epsilon` must be finite and at least
/// 0: 1 / √(variance + epsilon) is else no number for some variances.
static LogicalResult checkNorm(Operation *op, Value input, ValueRange weights,
                               int64_t dim, FloatAttr epsilon) {
  if (failed(checkDim(op, dim, input)))
    return failure();
  if (epsilon.getValueAsDouble() < 0 || !epsilon.getValue().isFinite())
    return op->emitOpError("needs a finite epsilon of at least 0, got ")
           << epsilon;
  for (Value weight : weights)
    if (tensorType(weight).getShape() !=
        tensorType(input).getShape().drop_front(dim))
      return op->emitOpError("normalises ")
             << input.getType() << " from dim " << dim << " with weights "
             << weight.getType();
  return checkFloats(op, op->getOperands());
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult LayerNormOp::verify() {
  return checkNorm(*this, getInput(), getOperands().drop_front(), getDim(),
                   getEpsilonAttr());
}
double LayerNormOp::getFlops() { return 8 * elements(getInput()); }

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult RmsNormOp::verify() {
  return checkNorm(*this, getInput(), getOperands().drop_front(), getDim(),
                   getEpsilonAttr());
}
double RmsNormOp::getFlops() { return 4 * elements(getInput()); }

//===----------------------------------------------------------------------===//
// topk, pool
//===----------------------------------------------------------------------===//

/// Infers the types of the results of topk: the k selected values along the
/// dim, and the i64 indices of these values.
LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  const int64_t dim = adaptor.getDim(), count = adaptor.getK();
  if (dim < 0 || dim >= input.getRank())
    return emitOptionalError(loc, "names dim ", dim, " of ", input);
  if (count < 0 || count > input.getDimSize(dim))
    return emitOptionalError(loc, "asks for ", count, " of ",
                             input.getDimSize(dim), " elements");
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = count;
  results.push_back(input.clone(shape));
  results.push_back(
      RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  size_t spatial = adaptor.getWindow().size();
  if (input.getRank() != static_cast<int64_t>(spatial) + 2 ||
      adaptor.getStrides().size() != spatial ||
      adaptor.getPads().size() != 2 * spatial ||
      adaptor.getDilations().size() != spatial)
    return emitOptionalError(loc, "pools ", input, " with a window of ",
                             spatial, " dims");
  if (!allPositive(adaptor.getWindow()) || !allPositive(adaptor.getStrides()) ||
      !allPositive(adaptor.getDilations()))
    return emitOptionalError(
        loc, "windows, strides and dilations must be at least 1, got window ",
        listText(adaptor.getWindow()), ", strides ",
        listText(adaptor.getStrides()), " and dilations ",
        listText(adaptor.getDilations()));
  if (failed(checkWindowFits(loc, input, adaptor.getWindow(),
                             adaptor.getDilations(), adaptor.getPads())))
    return failure();
  SmallVector<int64_t> shape(input.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(windowOutput(
        input.getDimSize(i + 2), adaptor.getWindow()[i],
        adaptor.getStrides()[i], adaptor.getPads()[i],
        adaptor.getPads()[i + spatial], adaptor.getDilations()[i]));
  results.push_back(input.clone(shape));
  return success();
}

int64_t pcc::graph::countedTaps(PoolOp op, size_t dim, int64_t output) {
  if (op.getKind() == PoolKind::AverageWithPadding)
    return op.getWindow()[dim];
  int64_t size = tensorType(op.getInput()).getDimSize(dim + 2), count = 0;
  int64_t first = output * op.getStrides()[dim] - op.getPads()[dim];
  for (int64_t tap = 0; tap < op.getWindow()[dim]; ++tap) {
    int64_t place = first + tap * op.getDilations()[dim];
    count += place >= 0 && place < size;
  }
  return count;
}
