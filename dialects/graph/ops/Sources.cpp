//===- Sources.cpp - checks of parameters, constants and iota -------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "status/Counted.h"
#include "status/Suggestions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

/// Checks one transform of a weight, such as a slice or a reshape. A slice must
/// stay inside the tensor, and no size may be negative. `before` is the type of
/// the weight before the transform.
static LogicalResult checkTransform(ParameterOp op, Attribute transform,
                                    RankedTensorType before) {
  if (auto slice = dyn_cast<WeightSliceAttr>(transform)) {
    const int64_t dim = slice.getDim();
    const int64_t size = dim >= 0 && dim < before.getRank()
                             ? before.getDimSize(static_cast<unsigned>(dim))
                             : -1;
    // A slice of n elements reads the indices start, start + step, and so on.
    // The last index is start + (n − 1) · step, which must be less than `size`,
    // the size of the dim. The product could overflow. Therefore compare n − 1
    // with (size − 1 − start) / step. For size 10, start 1 and step 3, this
    // integer quotient is 2. The slice then has at most 3 indices: 1, 4 and 7.
    if (size < 0 || slice.getStart() < 0 || slice.getStep() < 1 ||
        slice.getSize() < 0 || slice.getStart() > size ||
        (slice.getSize() > 0 &&
         (slice.getStart() == size ||
          slice.getSize() - 1 >
              (size - 1 - slice.getStart()) / slice.getStep())))
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
/// Returns -1 if that number is unknown or exceeds 64 bits.
static int64_t storedBytes(RankedTensorType type) {
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return -1;
  int64_t bytes = elementBytes(type);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return -1;
  return bytes;
}

/// Checks a weight, which is a tensor in a file: its offset and length in the
/// file, and the transforms that pcc applies to it, such as slices.
static LogicalResult checkWeight(ParameterOp op, WeightAttr weight) {
  RankedTensorType stored = weight.getStored();
  if (weight.getOffset() < 0 || weight.getLength() < 0 ||
      weight.getOffset() > INT64_MAX - weight.getLength() ||
      (!weight.isAbsent() && weight.getLength() != storedBytes(stored)))
    return op.emitOpError("has a weight of type ")
           << stored << " with " << pcc::counted(weight.getLength(), "byte")
           << " at byte " << weight.getOffset();
  if (weight.getFile().getValue().contains('\0'))
    return op.emitOpError("has a weight in a file whose name has a zero byte");
  WeightAttr sofar =
      WeightAttr::get(op.getContext(), weight.getFile(), weight.getOffset(),
                      weight.getLength(), stored, {});
  for (Attribute transform : weight.getTransforms()) {
    RankedTensorType before = sofar.getTransformedType();
    // A transform is a permutation, a slice, a reshape or a cast. `before` is
    // the type of the weight after all transforms that precede `transform`. The
    // type is null if one of these transforms cannot be applied. For example, a
    // weight of 12 elements cannot be reshaped to 10 elements. Stop without an
    // error in this case, because ParameterOp::verify() reports the error.
    if (!before)
      break;
    if (failed(checkTransform(op, transform, before)))
      return failure();
    sofar = sofar.withTransform(transform);
  }
  return success();
}

/// Verifies a parameter op, which declares a tensor. The optional attribute
/// `weight` names a stored tensor and a list of transforms: permute, slice,
/// reshape or cast. After all transforms, the stored tensor must have the type
/// that the op declares. The optional attribute `fill` is the initial value of
/// all elements. An op must not have both `weight` and `fill`.
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

/// Checks the parameter op `state` if it declares an optimizer state, such as a
/// momentum. Emits an error and fails unless the attribute `state_of` names a
/// weight, and `state` is a scalar or has the shape of the weight. The name is
/// looked up from `user`, the op that reads or writes the state.
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

/// Checks the type of `value`. `op` reads `value` from `parameter` or writes
/// `value` to `parameter`. `value` must have the element type and the rank of
/// `parameter`. The sizes of the dims may differ, because `value` may be a
/// shard of `parameter`.
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

/// Emits an error that `op` names a parameter that does not exist, with
/// similar names. `verb` is what the op does with it.
static LogicalResult refuseName(Operation *op, StringRef verb, StringRef name) {
  std::vector<std::string> names;
  if (auto module = op->getParentOfType<ModuleOp>())
    for (auto parameter : module.getOps<ParameterOp>())
      names.push_back(parameter.getSymName().str());
  return op->emitOpError(verb)
         << " @" << name << ", which no graph.parameter declares"
         << pcc::didYouMean(name, names);
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return refuseName(*this, "reads", getParameter());
  if (failed(checkState(*this, parameter, symbols)))
    return failure();
  return checkPart(*this, parameter, getResult());
}

/// Verifies that the parameter may be written: it is trainable or a state (a
/// parameter that starts with a fill value).
LogicalResult SetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return refuseName(*this, "writes", getParameter());
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
