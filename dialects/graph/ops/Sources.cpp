//===- Sources.cpp - checks of parameters, constants and iota -------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

/// Checks that a transform of a weight reads existing elements only.
static LogicalResult checkTransform(ParameterOp op, Attribute transform,
                                    RankedTensorType before) {
  if (auto slice = dyn_cast<WeightSliceAttr>(transform)) {
    const int64_t dim = slice.getDim();
    const int64_t size = dim >= 0 && dim < before.getRank()
                             ? before.getDimSize(static_cast<unsigned>(dim))
                             : -1;
    // Compare by division: the product of step and size could overflow.
    if (size < 0 || slice.getStart() < 0 || slice.getStep() < 1 ||
        slice.getSize() < 0 || slice.getStart() > size ||
        (slice.getSize() > 0 &&
         slice.getSize() - 1 > (size - 1 - slice.getStart()) / slice.getStep()))
      return op.emitOpError("has a weight with ")
             << slice << ", which does not fit " << before;
  }
  if (auto reshape = dyn_cast<ReinterpretAttr>(transform))
    if (llvm::any_of(reshape.getShape(), [](int64_t d) { return d < 0; }))
      return op.emitOpError("has a weight with ")
             << reshape << ", which has a negative size";
  return success();
}

/// Returns the number of bytes that a tensor of type `type` takes in a file.
/// Returns -1 if it has no fixed size, or if it is too large for 64 bits.
static int64_t storedBytes(RankedTensorType type) {
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return -1;
  int64_t bytes = elementBytes(type);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return -1;
  return bytes;
}

/// Checks the place of the elements in their file, which may come from an
/// edited dump, and each transform against the type before it.
static LogicalResult checkWeight(ParameterOp op, WeightAttr weight) {
  RankedTensorType stored = weight.getStored();
  if (weight.getOffset() < 0 || weight.getLength() < 0 ||
      weight.getOffset() > INT64_MAX - weight.getLength() ||
      (!weight.isAbsent() && weight.getLength() != storedBytes(stored)))
    return op.emitOpError("has a weight of type ")
           << stored << " with " << weight.getLength() << " bytes at byte "
           << weight.getOffset();
  if (weight.getFile().getValue().contains('\0'))
    return op.emitOpError("has a weight in a file whose name has a zero byte");
  WeightAttr sofar =
      WeightAttr::get(op.getContext(), weight.getFile(), weight.getOffset(),
                      weight.getLength(), stored, {});
  for (Attribute transform : weight.getTransforms()) {
    RankedTensorType before = sofar.getTransformedType();
    // The caller reports a transform that cannot be applied.
    if (!before)
      break;
    if (failed(checkTransform(op, transform, before)))
      return failure();
    sofar = sofar.withTransform(transform);
  }
  return success();
}

/// Verifies a parameter op. If the parameter has a weight, the weight must have
/// the declared type after its transforms (permute, slice, reshape, cast). The
/// parameter must not have both a weight and a fill value.
LogicalResult ParameterOp::verify() {
  WeightAttr weight = getWeightAttr();
  if (weight && getFill())
    return emitOpError("has both a weight and a fill value");
  if (!weight)
    return success();
  if (failed(checkWeight(*this, weight)))
    return failure();
  RankedTensorType type = weight.getTransformedType();
  if (!type)
    return emitOpError(
               "has a weight whose transforms do not fit its stored type ")
           << weight.getStored();
  if (type != getType())
    return emitOpError("declares ")
           << getType() << ", but its weight gives " << type;
  return success();
}

/// Checks that a state of the optimizer, which `user` reads or writes, has the
/// shape of the weight that it belongs to, or is a number.
static LogicalResult checkState(Operation *user, ParameterOp state,
                                SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = state.getStateOfAttr();
  if (!name)
    return success();
  auto weight = symbols.lookupNearestSymbolFrom<ParameterOp>(user, name);
  if (!weight)
    return state.emitOpError("belongs to ")
           << name << ", which no graph.parameter declares";
  auto type = cast<RankedTensorType>(state.getType());
  if (type.getRank() == 0 ||
      type.getShape() == cast<RankedTensorType>(weight.getType()).getShape())
    return success();
  return state.emitOpError("has type ") << type << ", but belongs to " << name
                                        << " of type " << weight.getType();
}

/// Checks that `value`, which `op` reads from or writes to `parameter`, has the
/// element type and the rank of the parameter. Its shape may be that of a part.
static LogicalResult checkPart(Operation *op, ParameterOp parameter,
                               Value value) {
  auto whole = cast<RankedTensorType>(parameter.getType());
  if (whole.getElementType() == tensorType(value).getElementType() &&
      whole.getRank() == tensorType(value).getRank())
    return success();
  return op->emitOpError("has ")
         << value.getType() << " for @" << parameter.getSymName()
         << ", which is " << whole;
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("reads @")
           << getParameter() << ", which no graph.parameter declares";
  if (failed(checkState(*this, parameter, symbols)))
    return failure();
  return checkPart(*this, parameter, getResult());
}

/// Verifies that the op may write its parameter. Only trainable parameters and
/// states may be written. A state is a parameter that starts with a fill value.
LogicalResult SetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("writes @")
           << getParameter() << ", which no graph.parameter declares";
  if (!parameter.getTrained() && !parameter.getFill())
    return emitOpError("writes @")
           << getParameter() << ", which is neither trained nor a state";
  if (failed(checkState(*this, parameter, symbols)))
    return failure();
  return checkPart(*this, parameter, getValue());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult IotaOp::verify() {
  int64_t rank = tensorType(getResult()).getRank();
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= rank)
    return emitOpError("counts along dim ")
           << getDim() << " of a result of rank " << rank;
  return success();
}
