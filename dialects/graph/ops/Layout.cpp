//===- Layout.cpp - types, checks and folds of layout ops -----------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "dialects/graph/ops/Padding.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (static_cast<int64_t>(adaptor.getPerm().size()) != input.getRank() ||
      !isPermutationVector(adaptor.getPerm()))
    return emitOptionalError(loc, "permutation does not fit ", input);
  results.push_back(
      input.clone(applyPermutation(input.getShape(), adaptor.getPerm())));
  return success();
}

LogicalResult TransposeOp::verify() { return success(); }

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return isIdentityPermutation(getPerm()) ? OpFoldResult(getInput())
                                          : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  if (tensorType(getInput()).getNumElements() !=
          tensorType(getResult()).getNumElements() ||
      tensorType(getInput()).getElementType() !=
          tensorType(getResult()).getElementType())
    return emitOpError("makes ") << getType() << " of " << getInput().getType();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

LogicalResult BroadcastOp::verify() {
  auto shape = broadcastShapes(tensorType(getInput()).getShape(),
                               tensorType(getResult()).getShape());
  if (failed(shape) ||
      ArrayRef<int64_t>(*shape) != tensorType(getResult()).getShape())
    return emitOpError("makes ") << getType() << " of " << getInput().getType();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getStarts().size() != rank || adaptor.getSizes().size() != rank ||
      adaptor.getSteps().size() != rank)
    return emitOptionalError(
        loc, "needs a start, a size and a step for each dim of ", input);
  results.push_back(input.clone(adaptor.getSizes()));
  return success();
}

/// Emits an error and fails if a step is 0, or if the slice reads outside the
/// operand. Checks only the first and the last element along each dim.
LogicalResult SliceOp::verify() {
  for (auto [i, size] : llvm::enumerate(tensorType(getInput()).getShape())) {
    int64_t start = getStarts()[i], count = getSizes()[i],
            last = start + (count - 1) * getSteps()[i];
    if (getSteps()[i] == 0)
      return emitOpError("has a step of 0 for dim ") << i;
    if (count < 0 ||
        (count > 0 && (start < 0 || start >= size || last < 0 || last >= size)))
      return emitOpError("reads from ") << start << " to " << last << " of dim "
                                        << i << " of " << getInput().getType();
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = getInput().getType() == getType() &&
               llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return whole ? OpFoldResult(getInput()) : OpFoldResult();
}

/// Infers the result shape of a concat. The size of the concatenated dim is the
/// sum of the operands' sizes. Fails unless all operands have equal sizes in
/// all other dims.
LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "joins nothing");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  size_t dim = adaptor.getDim();
  SmallVector<int64_t> shape(first.getShape());
  if (dim >= shape.size())
    return emitOptionalError(loc, "names dim ", dim, " of ", first);
  shape[dim] = 0;
  for (Value input : adaptor.getInputs()) {
    SmallVector<int64_t> other(tensorType(input).getShape());
    if (other.size() != shape.size() ||
        tensorType(input).getElementType() != first.getElementType())
      return emitOptionalError(loc, "joins ", first, " and ", input.getType());
    // Exclude the concatenated dim from the comparison of the shapes.
    int64_t size = std::exchange(other[dim], shape[dim]);
    if (other != shape)
      return emitOptionalError(loc, "joins ", first, " and ", input.getType(),
                               " along dim ", dim);
    shape[dim] += size;
  }
  results.push_back(first.clone(shape));
  return success();
}

LogicalResult ConcatOp::verify() { return success(); }

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}

int64_t pcc::graph::paddedIndex(PadMode mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size)
    return index;
  if (mode == PadMode::Constant || size == 0)
    return -1;
  if (mode == PadMode::Edge)
    return index < 0 ? 0 : size - 1;
  // Compute the period of the padding, in elements. For [a b c], mode wrap
  // repeats a b c (period 3). Mode reflect repeats a b c b (period 4).
  int64_t period =
      mode == PadMode::Wrap ? size : std::max<int64_t>(1, 2 * size - 2);
  int64_t place = ((index % period) + period) % period;
  return place < size ? place : period - place;
}

/// Infers the shape of the padded tensor. `low[i]` elements are added at the
/// start of dim i, and `high[i]` at its end. Negative numbers remove elements,
/// but a size never falls below 0.
LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput());
  SmallVector<int64_t> shape(input.getShape());
  if (adaptor.getLow().size() != shape.size() ||
      adaptor.getHigh().size() != shape.size())
    return emitOptionalError(
        loc, "needs a low and a high count for each dim of ", input);
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = std::max<int64_t>(0, shape[i] + adaptor.getLow()[i] +
                                        adaptor.getHigh()[i]);
  results.push_back(input.clone(shape));
  return success();
}

LogicalResult PadOp::verify() {
  if ((getMode() == PadMode::Constant) != static_cast<bool>(getValue()))
    return emitOpError("needs a value in mode constant, and in no other mode");
  return checkSameElements(*this, getOperands());
}

LogicalResult RotaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult RotaryOp::verify() {
  auto shape = tensorType(getInput()).getShape();
  if (shape.empty() || shape.back() % 2)
    return emitOpError("rotates halves of the last dim of ")
           << getInput().getType() << ", which is odd";
  for (Value table : {getCos(), getSin()}) {
    auto both = broadcastShapes(shape, tensorType(table).getShape());
    if (failed(both) || ArrayRef<int64_t>(*both) != shape)
      return emitOpError("has a table ")
             << table.getType() << " that does not broadcast to "
             << getInput().getType();
  }
  return checkFloats(*this, getOperands());
}

LogicalResult ResizeOp::verify() {
  if (tensorType(getInput()).getRank() != tensorType(getResult()).getRank() ||
      static_cast<int64_t>(getScales().size()) !=
          tensorType(getInput()).getRank())
    return emitOpError("resizes ")
           << getInput().getType() << " to " << getType() << " with "
           << getScales().size() << " scales";
  return success();
}
