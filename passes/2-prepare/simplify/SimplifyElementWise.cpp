//===- SimplifyElementWise.cpp - rewrites of element-wise ops -------------===//

#include "dialects/graph/FloatCasts.h"
#include "mlir/IR/IRMapping.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

//===----------------------------------------------------------------------===//
// Neutral operands
//===----------------------------------------------------------------------===//

/// Returns `value` if it has the result type of `op`. Returns null if `op`
/// broadcasts `value` to a larger shape.
static Value ifSameType(Operation *op, Value value) {
  return value && value.getType() == op->getResult(0).getType() ? value
                                                                : Value();
}

/// Replaces `op` by one operand if the other operand is the neutral number,
/// such as x + 0 or 1 · x. Returns null if neither operand consists of this
/// number, or if `op` broadcasts x.
template <typename Op, int neutral>
static Value dropNeutral(Op op, PatternRewriter &) {
  return ifSameType(op, otherOperand(op, [](Value value) {
                      return isUniform(value, neutral);
                    }));
}

/// Replaces `op` by the left operand x if the right operand is the neutral
/// number, such as x - 0 or x / 1. Returns null if the right operand has other
/// elements, or if `op` broadcasts x.
template <typename Op, int neutral>
static Value dropNeutralRight(Op op, PatternRewriter &) {
  return isUniform(op.getRhs(), neutral) ? ifSameType(op, op.getLhs())
                                         : Value();
}

/// Returns x for -(-x) and for not(not(x)); null for other ops.
template <typename Op> static Value dropDouble(Op op, PatternRewriter &) {
  auto inner = definedBy<Op>(op.getInput());
  return inner ? inner.getInput() : Value();
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// Replaces a float power x^e with a constant exponent e of 1, 2, 3, 0.5 or -1.
/// The result is x itself, a product, a square root or a reciprocal. Returns
/// null for other powers.
static Value expandPower(PowOp op, PatternRewriter &rewriter) {
  Value x = op.getLhs();
  auto exponent = uniformValue(op.getRhs());
  if (!exponent || x.getType() != op.getType() ||
      !isa<FloatType>(elementTypeOf(x)))
    return {};
  Location loc = op.getLoc();
  if (*exponent == 1)
    return x;
  if (*exponent == 0.5)
    return SqrtOp::create(rewriter, loc, x);
  if (*exponent == -1)
    return ReciprocalOp::create(rewriter, loc, x);
  if (*exponent != 2 && *exponent != 3)
    return {};
  Value square = MulOp::create(rewriter, loc, x, x);
  return *exponent == 2 ? square
                        : Value(MulOp::create(rewriter, loc, square, x));
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Returns whether a cast from element type `from` to element type `to` changes
/// no number. Returns false if the function does not know the types.
static bool holds(Type to, Type from) {
  if (from.isInteger(1))
    return true;
  auto toFloat = dyn_cast<FloatType>(to), fromFloat = dyn_cast<FloatType>(from);
  if (toFloat && fromFloat)
    return representsAll(toFloat, fromFloat);
  if (fromFloat || !from.isIntOrIndex())
    return false;
  if (toFloat)
    return from.getIntOrFloatBitWidth() < toFloat.getFPMantissaWidth();
  return to.isUnsignedInteger() == from.isUnsignedInteger() &&
         to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth();
}

/// Replaces two successive casts of x by one cast, or by x if x already has the
/// type of the result. Returns null if the first cast may change a number, such
/// as f32 to f16.
static Value composeCasts(CastOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<CastOp>(op.getInput());
  if (!inner || !holds(elementTypeOf(inner), elementTypeOf(inner.getInput())))
    return {};
  if (inner.getInput().getType() == op.getType())
    return inner.getInput();
  return CastOp::create(rewriter, op.getLoc(), op.getType(), inner.getInput());
}

//===----------------------------------------------------------------------===//
// Selects
//===----------------------------------------------------------------------===//

/// Returns `value` broadcast to `type`. Returns `value` itself if it has that
/// type.
static Value broadcastTo(Value value, Type type, Location loc,
                         PatternRewriter &rewriter) {
  return value.getType() == type
             ? value
             : Value(BroadcastOp::create(rewriter, loc, type, value));
}

/// Replaces select(c, a, b) by a if c is known to be true everywhere, or if a
/// and b are one value. Replaces it by b if c is known to be false everywhere.
/// Broadcasts the result to the type of `op`. Returns null otherwise.
static Value decideSelect(SelectOp op, PatternRewriter &rewriter) {
  Value chosen;
  if (auto condition = uniformValue(op.getCondition()))
    chosen = *condition != 0 ? op.getOnTrue() : op.getOnFalse();
  else if (op.getOnTrue() == op.getOnFalse())
    chosen = op.getOnTrue();
  return chosen ? broadcastTo(chosen, op.getType(), op.getLoc(), rewriter)
                : Value();
}

/// Replaces select(not(c), a, b) by select(c, b, a). Returns null for other
/// selects.
static Value swapNegatedSelect(SelectOp op, PatternRewriter &rewriter) {
  auto negated = definedBy<NotOp>(op.getCondition());
  if (!negated)
    return {};
  return SelectOp::create(rewriter, op.getLoc(), negated.getInput(),
                          op.getOnFalse(), op.getOnTrue());
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// Returns a tensor that can be broadcast to `value`:
///
///   `value`                                   result
///   broadcast(x)                              x
///   constant with equal elements: [2, 2, 2]   scalar constant: 2
///   any other value                           `value`
static Value unrepeated(Value value, PatternRewriter &rewriter) {
  if (auto broadcast = definedBy<BroadcastOp>(value))
    return broadcast.getInput();
  auto constant = definedBy<ConstantOp>(value);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || shapeOf(value).empty() || dense.empty())
    return value;
  auto scalar = tensorType(value).clone(ArrayRef<int64_t>());
  return ConstantOp::create(rewriter, value.getLoc(), scalar,
                            dense.resizeSplat(scalar));
}

namespace {
/// Removes broadcasts from the operands of element-wise ops, which broadcast
/// operands themselves. add(broadcast(x), y) becomes add(x, y). If all operands
/// are broadcast, add(broadcast(x), broadcast(y)) becomes broadcast(add(x, y)).
/// A constant whose elements are all equal counts as a broadcast of a scalar.
struct AbsorbBroadcasts : RewritePattern {
  explicit AbsorbBroadcasts(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasTrait<IsElementWise>())
      return failure();
    SmallVector<Value> operands;
    SmallVector<int64_t> shape;
    for (Value operand : op->getOperands()) {
      operands.push_back(unrepeated(operand, rewriter));
      shape = *broadcastShapes(shape, shapeOf(operands.back()));
    }
    if (llvm::equal(operands, op->getOperands()))
      return failure();
    auto type = tensorType(op->getResult(0));
    if (type.getShape() == ArrayRef(shape)) {
      rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
      return success();
    }
    Operation *small = rewriter.clone(*op);
    small->setOperands(operands);
    small->getResult(0).setType(type.clone(shape));
    small->removeAttr(nameName);
    small->removeAttr(pinnedName);
    return replaceNamed(
        op,
        BroadcastOp::create(rewriter, op->getLoc(), type, small->getResult(0)),
        rewriter);
  }
};
} // namespace

void pcc::prepare::addElementWiseSimplifications(RewritePatternSet &patterns) {
  addRewrites(patterns, dropNeutral<AddOp, 0>, dropNeutral<MulOp, 1>,
              dropNeutral<AndOp, 1>, dropNeutral<OrOp, 0>,
              dropNeutralRight<SubOp, 0>, dropNeutralRight<DivOp, 1>);
  addRewrites(patterns, dropDouble<NegOp>, dropDouble<NotOp>, expandPower,
              composeCasts, decideSelect, swapNegatedSelect);
  patterns.add<AbsorbBroadcasts>(patterns.getContext());
}
