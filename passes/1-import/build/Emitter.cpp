//===- Emitter.cpp - builder of graph ops that folds known values ---------===//

#include "passes/1-import/build/Emitter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/SinkBroadcasts.h"
#include "status/Counted.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

std::string describeShapeError(ArrayRef<int64_t> shape) {
  if (shape.size() > static_cast<size_t>(maxRank))
    return counted(shape.size(), "dim");
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
  return fail(Status::error(code, message.str()));
}

Value Emitter::fail(const Status &status) {
  if (error.ok())
    error = status;
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

/// Returns an error message if describeShapeError() rejects the shape of a
/// result of `op`; "" otherwise.
static std::string checkSizes(Operation *op) {
  for (Value result : op->getResults())
    if (std::string mistake = describeShapeError(shapeOf(result));
        !mistake.empty())
      return "makes a tensor with " + mistake;
  return {};
}

/// Infers the result types of `op` and verifies `op`. On failure, records an
/// error, erases `op` and returns false. If the inference fails, the error has
/// the exit code `mismatchExitCode`, because a wrong --dim or --shape may be
/// the cause. Otherwise, the error has the exit code 3.
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
  // All elements of each operand are equal, so all elements of the result are
  // equal. Fold a clone of the op with scalar operands, and broadcast the
  // scalar result.
  Operation *small = builder.clone(*op);
  for (auto [operand, value] : llvm::zip_equal(small->getOpOperands(), values))
    operand.set(constant(cast<DenseElementsAttr>(value)));
  small->getResult(0).setType(type.clone(ArrayRef<int64_t>()));
  Value scalar = foldKnown(small);
  small->erase();
  return scalar ? broadcast(scalar, type.getShape()) : Value();
}

/// Returns the common element of the boolean tensor `value`. Returns nullopt if
/// the elements are unknown or differ, or if there are none.
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
  // Fold the op if all elements of one operand are known to be true, or all are
  // known to be false:
  //
  //   and(true, x) = x        or(true, x) = true
  //   and(false, x) = false   or(false, x) = x
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
