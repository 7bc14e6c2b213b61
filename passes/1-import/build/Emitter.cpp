//===- Emitter.cpp - builder of graph ops that folds known values ---------===//

#include "passes/1-import/build/Emitter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/SinkBroadcasts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

std::string describeShapeError(ArrayRef<int64_t> shape) {
  if (shape.size() > static_cast<size_t>(maxRank))
    return std::to_string(shape.size()) + " dims";
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0)
      return "a dim of " + std::to_string(size);
    if (size > 0 && count > maxElements / size)
      return "more than 2^48 elements";
    count *= std::max<int64_t>(1, size);
  }
  return {};
}

std::string sizesText(ArrayRef<int64_t> sizes) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(sizes))
    text += (i ? ", " : "") + std::to_string(size);
  return text + "]";
}

int64_t saturatingProduct(int64_t lhs, int64_t rhs) {
  int64_t product;
  return llvm::MulOverflow(lhs, rhs, product) ? INT64_MAX : product;
}

ArrayRef<int64_t> shapeOf(Value value) {
  return value ? tensorType(value).getShape() : ArrayRef<int64_t>();
}

Value Emitter::fail(ExitCode code, const Twine &message) {
  if (error.ok())
    error = Status::error(code, message.str());
  return {};
}

RankedTensorType Emitter::noType() {
  return RankedTensorType::get({}, builder.getI1Type());
}

//===----------------------------------------------------------------------===//
// Types and checks
//===----------------------------------------------------------------------===//

/// Replaces the result types of `op` by the types that MLIR infers from the
/// operands and attributes of `op`. MLIR's interface InferTypeOpInterface
/// infers the types. If `op` does not have this interface, the function changes
/// nothing and returns success. Returns failure if the inference fails. An
/// example is an addition of tensors of the shapes [8, 4] and [8, 3].
static LogicalResult inferTypes(Operation *op) {
  auto *interface = op->getName().getInterface<InferTypeOpInterface>();
  if (!interface)
    return success();
  SmallVector<Type> types;
  if (failed(interface->inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

/// Checks the shape of each result of `op`. A shape is invalid in each of these
/// cases:
///
///  - The shape has more than 1024 dims.
///  - A dim has a negative size.
///  - The tensor has more than 2^48 elements. In this comparison, a dim of size
///    0 counts as a dim of size 1.
///
/// Returns an error message for the first result with an invalid shape. An
/// example is "makes a tensor with a dim of -1". Returns "" if all shapes are
/// valid.
static std::string checkSizes(Operation *op) {
  for (Value result : op->getResults())
    if (std::string mistake = describeShapeError(shapeOf(result));
        !mistake.empty())
      return "makes a tensor with " + mistake;
  return {};
}

/// Infers the result types of `op`, checks the result shapes and runs the MLIR
/// verifier of `op`. Returns true if all three steps succeed. Otherwise records
/// an error, erases `op` and returns false.
///
/// An inference error means that the operands have incompatible shapes, because
/// the model is invalid or because --dim or --shape gives a wrong size. This
/// error has the exit code `mismatchExitCode`. Every other error has the exit
/// code CannotRead.
bool Emitter::inferAndVerify(Operation *op) {
  std::string text;
  ScopedDiagnosticHandler handler(op->getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (text.empty())
                                      text = diagnostic.str();
                                    return success();
                                  });
  ExitCode code = mismatchExitCode;
  if (succeeded(inferTypes(op))) {
    text = checkSizes(op);
    if (text.empty() && succeeded(op->getName().verifyInvariants(op)))
      return true;
    code = CannotRead;
  }
  // `text` is an error message. MLIR begins the message of an error about an op
  // with the name of the op. For example, the message is "'graph.add' op has 3
  // operands". Remove this beginning, and leave "has 3 operands". A message
  // without such a beginning stays unchanged.
  StringRef message = text, prefix = "op ";
  if (message.consume_front("'" + op->getName().getStringRef().str() + "' "))
    message.consume_front(prefix);
  fail(code, message);
  op->erase();
  return false;
}

Value Emitter::finish(Operation *op) {
  if (!inferAndVerify(op))
    return {};
  Value folded = sinkBroadcasts(op, *this);
  if (!folded) {
    absorbBroadcasts(op);
    folded = tryFold(op);
  }
  if (!folded)
    return op->getResult(0);
  op->erase();
  return folded;
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Returns whether `op` is a broadcast op that must not be folded into a
/// constant. The result of such an op has rank 2 or more, and more elements
/// than the operand. An example is a broadcast of an attention mask from the
/// shape [1, 4, 4] to the shape [8, 4, 4], where 8 is the batch size. A
/// constant of shape [8, 4, 4] would need 8 times the memory of the mask.
static bool isKeptBroadcast(Operation *op) {
  return isa<BroadcastOp>(op) && shapeOf(op->getResult(0)).size() > 1 &&
         tensorType(op->getResult(0)).getNumElements() >
             tensorType(op->getOperand(0)).getNumElements();
}

Value Emitter::tryFold(Operation *op) {
  // First try the folds that do not need the elements of the operands. For
  // example, a transpose that keeps the order of the dims folds to its operand.
  // The method fold() takes a list with one attribute per operand. The
  // attribute holds the elements of the operand. A null attribute means that
  // the elements are unknown. The list `unknown` holds null for each operand.
  // foldKnown() later calls fold() with the elements of the operands.
  SmallVector<OpFoldResult> results;
  SmallVector<Attribute> unknown(op->getNumOperands());
  if (op->getNumOperands() > 0 && succeeded(op->fold(unknown, results)) &&
      results.size() == 1)
    if (auto value = dyn_cast<Value>(results.front()))
      return value;
  if (Value value = foldMask(op))
    return value;
  if (Value value = foldUniform(op))
    return value;
  return foldKnown(op);
}

Value Emitter::foldKnown(Operation *op) {
  if (op->getNumResults() != 1 || isa<ConstantOp>(op) || isKeptBroadcast(op) ||
      tensorType(op->getResult(0)).getNumElements() > foldLimit)
    return {};
  SmallVector<Attribute> values;
  for (Value operand : op->getOperands()) {
    values.push_back(known(operand));
    if (!values.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (op->getNumOperands() == 0 && !isa<IotaOp>(op))
    return {};
  if (mlir::failed(op->fold(values, results)) || results.size() != 1)
    return {};
  auto value = dyn_cast<Attribute>(results.front());
  auto dense = dyn_cast_if_present<DenseElementsAttr>(value);
  return dense ? compact(dense) : Value();
}

Value Emitter::foldUniform(Operation *op) {
  auto type = op->getNumResults() == 1 ? tensorType(op->getResult(0))
                                       : RankedTensorType();
  if (!type || type.getRank() == 0)
    return {};
  if (op->hasTrait<MovesElements>()) {
    DenseElementsAttr value = uniform(op->getOperand(0));
    bool smallest = isa<BroadcastOp>(op) && shapeOf(op->getOperand(0)).empty();
    if (!value || smallest)
      return {};
    return broadcast(constant(value), type.getShape());
  }
  if (!op->hasTrait<IsElementWise>())
    return {};
  SmallVector<Attribute> values;
  for (Value operand : op->getOperands()) {
    values.push_back(uniform(operand));
    if (!values.back())
      return {};
  }
  // The op is element-wise, such as an addition. Each operand is a tensor whose
  // elements are all equal. For example, all elements of operand 0 are 2, and
  // all elements of operand 1 are 3. All elements of the sum are then 5. The
  // op is replaced in these steps:
  //
  //   1. Clone the op.
  //   2. Replace each operand of the clone by a scalar: by 2 and by 3.
  //   3. Fold the clone to a scalar: to 5. If MLIR cannot fold the clone, stop
  //      and return null.
  //   4. Broadcast the scalar to the shape of the result of the op.
  Operation *small = builder.clone(*op);
  for (auto [operand, value] : llvm::zip_equal(small->getOpOperands(), values))
    operand.set(constant(cast<DenseElementsAttr>(value)));
  small->getResult(0).setType(type.clone(ArrayRef<int64_t>()));
  Value scalar = foldKnown(small);
  small->erase();
  return scalar ? broadcast(scalar, type.getShape()) : Value();
}

/// Determines whether all elements of the boolean tensor `value` are known to
/// be equal. The elements are known if `value` is a constant or a broadcast of
/// a constant. `emitter` looks up the elements. The function returns:
///
///   true           if all elements are known to be true
///   false          if all elements are known to be false
///   std::nullopt   in all other cases, such as a tensor with both true and
///                  false elements, or a tensor without elements
static std::optional<bool> truth(Emitter &emitter, Value value) {
  DenseElementsAttr scalar = emitter.uniform(value);
  if (!scalar || !scalar.getElementType().isInteger(1))
    return {};
  return scalar.getSplatValue<bool>();
}

Value Emitter::foldMask(Operation *op) {
  if (!isa<AndOp, OrOp, SelectOp>(op))
    return {};
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  if (auto select = dyn_cast<SelectOp>(op)) {
    auto condition = truth(*this, select.getCondition());
    if (!condition)
      return {};
    return broadcast(*condition ? select.getOnTrue() : select.getOnFalse(),
                     shape);
  }
  // The op is an And or an Or. Fold the op if all elements of one operand are
  // known to be true, or all are known to be false. In the following table,
  // `true` and `false` stand for this operand, and x is the other operand. The
  // value at the right, broadcast to the shape of the result, replaces the op:
  //
  //   and(true, x)    x
  //   and(false, x)   false
  //   or(true, x)     true
  //   or(false, x)    x
  //
  // The first iteration of the loop examines operand 0, and the second
  // iteration examines operand 1.
  for (auto [value, other] : {std::pair(op->getOperand(0), op->getOperand(1)),
                              std::pair(op->getOperand(1), op->getOperand(0))})
    if (auto known = truth(*this, value))
      return broadcast(*known == isa<AndOp>(op) ? other : value, shape);
  return {};
}

DenseElementsAttr Emitter::known(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return dyn_cast<DenseElementsAttr>(constant.getValue());
  auto repeated = dyn_cast_or_null<BroadcastOp>(op);
  if (!repeated || tensorType(value).getNumElements() > 8 * foldLimit)
    return {};
  DenseElementsAttr inner = known(repeated.getInput());
  return inner ? broadcastElements(inner, shapeOf(value)) : DenseElementsAttr();
}

DenseElementsAttr Emitter::uniform(Value value) {
  if (auto repeated = value.getDefiningOp<BroadcastOp>())
    return uniform(repeated.getInput());
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || dense.getNumElements() == 0)
    return {};
  return dense.resizeSplat(
      cast<RankedTensorType>(dense.getType()).clone(ArrayRef<int64_t>()));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Emitter::constant(DenseElementsAttr value) {
  if (failed())
    return {};
  return ConstantOp::create(builder, loc, value.getType(), value);
}

Value Emitter::compact(DenseElementsAttr value) {
  ShapedType type = value.getType();
  if (type.getRank() < 2 || type.getNumElements() < 16)
    return constant(value);
  DenseElementsAttr kept = dropRepeats(value);
  if (kept.getNumElements() == type.getNumElements())
    return constant(value);
  return makeTyped<BroadcastOp>(cast<RankedTensorType>(type), constant(kept));
}

Value Emitter::scalar(double value, Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  return constant(DenseElementsAttr::get(type, numberAttr(elementType, value)));
}

Value Emitter::scalarLike(Value like, double value) {
  return like ? scalar(value, tensorType(like).getElementType()) : Value();
}

Value Emitter::indices(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value Emitter::full(RankedTensorType type, double value) {
  return broadcast(scalar(value, type.getElementType()), type.getShape());
}

//===----------------------------------------------------------------------===//
// Frequent ops
//===----------------------------------------------------------------------===//

Value Emitter::add(Value lhs, Value rhs) { return make<AddOp>(lhs, rhs); }
Value Emitter::sub(Value lhs, Value rhs) { return make<SubOp>(lhs, rhs); }
Value Emitter::mul(Value lhs, Value rhs) { return make<MulOp>(lhs, rhs); }
Value Emitter::div(Value lhs, Value rhs) { return make<DivOp>(lhs, rhs); }
Value Emitter::logicalAnd(Value lhs, Value rhs) {
  return make<AndOp>(lhs, rhs);
}

Value Emitter::compare(Predicate predicate, Value lhs, Value rhs) {
  return make<CompareOp>(predicate, lhs, rhs);
}

Value Emitter::select(Value condition, Value onTrue, Value onFalse) {
  return make<SelectOp>(condition, onTrue, onFalse);
}

Value Emitter::cast(Value input, Type elementType) {
  if (failed() || !input)
    return missingOperand();
  return makeTyped<CastOp>(RankedTensorType::get(shapeOf(input), elementType),
                           input);
}

Value Emitter::reshape(Value input, ArrayRef<int64_t> shape) {
  if (failed() || !input)
    return missingOperand();
  return makeTyped<ReshapeOp>(tensorType(input).clone(shape), input);
}

Value Emitter::broadcast(Value input, ArrayRef<int64_t> shape) {
  if (failed() || !input)
    return missingOperand();
  if (auto inner = input.getDefiningOp<BroadcastOp>())
    if (shapeOf(input) != shape)
      input = inner.getInput();
  return makeTyped<BroadcastOp>(tensorType(input).clone(shape), input);
}

Value Emitter::transpose(Value input, ArrayRef<int64_t> perm) {
  return make<TransposeOp>(input, perm);
}

Value Emitter::sliceDim(Value input, int64_t dim, int64_t start, int64_t size) {
  if (failed() || !input)
    return missingOperand();
  SmallVector<int64_t> sizes(shapeOf(input)), starts(sizes.size(), 0),
      steps(sizes.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return make<SliceOp>(input, starts, sizes, steps);
}

Value Emitter::concat(ArrayRef<Value> inputs, int64_t dim) {
  return make<ConcatOp>(ValueRange(inputs), static_cast<uint64_t>(dim));
}

Value Emitter::reduce(ReduceKind kind, Value input, ArrayRef<int64_t> dims,
                      bool keep) {
  return make<ReduceOp>(kind, input, dims, keep, IntegerAttr());
}

std::pair<Value, Value> Emitter::topK(Value input, int64_t k, int64_t dim,
                                      bool largest) {
  if (failed())
    return {};
  auto op =
      TopKOp::create(builder, loc, noType(), noType(), input, k, dim, largest);
  if (!inferAndVerify(op))
    return {};
  return {op.getValues(), op.getIndices()};
}

Value Emitter::iota(ArrayRef<int64_t> shape, int64_t dim) {
  return makeTyped<IotaOp>(RankedTensorType::get(shape, builder.getI64Type()),
                           static_cast<uint64_t>(dim));
}

} // namespace pcc::onnx_import
