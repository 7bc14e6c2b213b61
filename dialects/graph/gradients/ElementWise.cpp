//===- ElementWise.cpp - gradients of element-wise ops --------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// Derivative of erf at 0: 2 / √π.
static const double erfSlope = 2 / std::sqrt(M_PI);

/// Builds 1 − x² as (1 − x)(1 + x), which is accurate near x = 1 and x = -1.
static Value oneMinusSquare(GradientBuilder &b, Value x) {
  return b.mul(b.sub(1, x), b.add(x, 1));
}

/// Computes e^(−x²).
static Value gaussian(GradientBuilder &b, Value x) {
  return b.apply<ExpOp>(b.neg(b.square(x)));
}

/// Defines buildGradients() of the op class OP. The op has one operand x and
/// one result y. The argument GRADIENT is a C++ expression that builds the
/// gradient of x. The expression may use the values x and y, and the value dy,
/// which is the gradient of y. If GRADIENT is the null value `Value()`, the
/// gradient of x is 0 everywhere. For example, the derivative of floor is 0
/// almost everywhere, so GRADIENT of floor is `Value()`.
#define PCC_GRADIENT(OP, GRADIENT)                                             \
  Gradients OP::buildGradients(GradientBuilder &b, ValueRange gradients) {     \
    [[maybe_unused]] Value x = getInput(), y = getResult(),                    \
                           dy = gradients.front();                             \
    return onlyGradient(GRADIENT);                                             \
  }

PCC_GRADIENT(NegOp, b.neg(dy))
PCC_GRADIENT(AbsOp, b.mul(dy, b.apply<SignOp>(x)))
PCC_GRADIENT(ExpOp, b.mul(dy, y))
PCC_GRADIENT(LogOp, b.div(dy, x))
PCC_GRADIENT(SqrtOp, b.div(dy, b.mul(y, 2)))
PCC_GRADIENT(ReciprocalOp, b.neg(b.mul(dy, b.square(y))))
PCC_GRADIENT(TanhOp, b.mul(dy, oneMinusSquare(b, y)))
PCC_GRADIENT(ErfOp, b.mul(dy, b.mul(gaussian(b, x), erfSlope)))
PCC_GRADIENT(SigmoidOp, b.mul(dy, b.mul(y, b.sub(1, y))))
PCC_GRADIENT(ReluOp,
             b.where(b.compare(Predicate::Greater, y, b.like(y, 0)), dy))
PCC_GRADIENT(SoftplusOp, b.mul(dy, b.apply<SigmoidOp>(x)))
PCC_GRADIENT(SinOp, b.mul(dy, b.apply<CosOp>(x)))
PCC_GRADIENT(CosOp, b.neg(b.mul(dy, b.apply<SinOp>(x))))
PCC_GRADIENT(TanOp, b.mul(dy, b.add(b.square(y), 1)))
PCC_GRADIENT(AsinOp, b.div(dy, b.apply<SqrtOp>(oneMinusSquare(b, x))))
PCC_GRADIENT(AcosOp, b.neg(b.div(dy, b.apply<SqrtOp>(oneMinusSquare(b, x)))))
PCC_GRADIENT(AtanOp, b.div(dy, b.add(b.square(x), 1)))
PCC_GRADIENT(SinhOp, b.mul(dy, b.apply<CoshOp>(x)))
PCC_GRADIENT(CoshOp, b.mul(dy, b.apply<SinhOp>(x)))
PCC_GRADIENT(AsinhOp, b.div(dy, b.apply<SqrtOp>(b.add(b.square(x), 1))))
PCC_GRADIENT(AcoshOp, b.div(dy, b.mul(b.apply<SqrtOp>(b.add(x, -1)),
                                      b.apply<SqrtOp>(b.add(x, 1)))))
PCC_GRADIENT(AtanhOp, b.div(dy, oneMinusSquare(b, x)))
PCC_GRADIENT(FloorOp, Value())
PCC_GRADIENT(CeilOp, Value())
PCC_GRADIENT(RoundOp, Value())
PCC_GRADIENT(SignOp, Value())
PCC_GRADIENT(CastOp, b.castLike(dy, x))
#undef PCC_GRADIENT

/// Builds the derivative of 0.5 x (1 + erf(slope x)) with respect to x.
static Value geluErfSlope(GradientBuilder &b, Value x, double slope) {
  Value scaled = b.mul(x, slope);
  Value share = b.mul(b.add(b.apply<ErfOp>(scaled), 1), 0.5);
  return b.add(share,
               b.mul(b.mul(x, gaussian(b, scaled)), slope * erfSlope / 2));
}

/// Builds the derivative of 0.5 x (1 + tanh(slope (x + cubic x³))) with respect
/// to x.
static Value geluTanhSlope(GradientBuilder &b, Value x, double slope,
                           double cubic) {
  Value square = b.square(x);
  Value inner = b.mul(x, b.add(b.mul(square, slope * cubic), slope));
  Value t = b.apply<TanhOp>(inner);
  Value innerSlope = b.add(b.mul(square, 3 * slope * cubic), slope);
  Value rise = b.mul(b.mul(x, oneMinusSquare(b, t)), innerSlope);
  return b.mul(b.add(b.add(t, rise), 1), 0.5);
}

/// Builds the gradient of gelu, in f32 or wider, because x² can exceed the
/// range of f16.
Gradients GeluOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  auto given = [](std::optional<APFloat> value, double usual) {
    return value ? value->convertToDouble() : usual;
  };
  Value x = b.widen(getInput());
  Value slope = getTanh()
                    ? geluTanhSlope(b, x, given(getSlope(), std::sqrt(M_2_PI)),
                                    given(getCubic(), 0.044715))
                    : geluErfSlope(b, x, given(getSlope(), M_SQRT1_2));
  Value dx = b.mul(b.widen(gradients.front()), slope);
  return onlyGradient(b.castLike(dx, getInput()));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

/// Builds the gradients of lhs and rhs of a broadcasting op. If needed, `left`
/// and `right` build the gradients in the shape of the result. Each gradient is
/// then summed over the dims along which its operand was broadcast.
template <typename Op, typename Left, typename Right>
static Gradients binary(GradientBuilder &b, Op op, Left left, Right right) {
  SmallVector<Value> gradients(2);
  if (b.wants(op.getLhs()))
    gradients[0] = b.sumTo(left(), op.getLhs());
  if (b.wants(op.getRhs()))
    gradients[1] = b.sumTo(right(), op.getRhs());
  return gradients;
}

/// Defines buildGradients of a broadcasting op with the operands lhs and rhs.
/// LEFT builds the gradient of lhs, and RIGHT builds the gradient of rhs. Both
/// may use lhs, rhs, the result y, and the gradient dy of y.
#define PCC_GRADIENT(OP, LEFT, RIGHT)                                          \
  Gradients OP::buildGradients(GradientBuilder &b, ValueRange gradients) {     \
    [[maybe_unused]] Value lhs = getLhs(), rhs = getRhs(), y = getResult(),    \
                           dy = gradients.front();                             \
    return binary(b, *this, [&] { return LEFT; }, [&] { return RIGHT; });      \
  }

PCC_GRADIENT(AddOp, dy, dy)
PCC_GRADIENT(SubOp, dy, b.neg(dy))
PCC_GRADIENT(MulOp, b.mul(dy, rhs), b.mul(dy, lhs))
PCC_GRADIENT(DivOp, b.div(dy, rhs), b.neg(b.mul(b.div(dy, rhs), y)))
#undef PCC_GRADIENT

/// Builds the gradients of mod: `dy` for lhs, and −n · `dy` for rhs. The result
/// is lhs − n · rhs, with an integer n that is constant almost everywhere.
Gradients ModOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front();
  return binary(
      b, *this, [&] { return dy; },
      [&] {
        Value whole = b.div(b.sub(getLhs(), getResult()), getRhs());
        return b.neg(b.mul(dy, b.apply<RoundOp>(whole)));
      });
}

/// Builds the gradients of pow. At exponent 0, the gradient of the base is 0.
/// At base 0, the gradient of the exponent is 0. The general formulas would
/// give NaN.
Gradients PowOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front(), y = getResult(), base = getLhs();
  Value power = b.castLike(getRhs(), base);
  return binary(
      b, *this,
      [&] {
        Value slope = b.mul(power, b.make<PowOp>(base, b.add(power, -1)));
        return b.except(b.isZero(power), b.mul(dy, slope));
      },
      [&] {
        Value slope = b.mul(y, b.apply<LogOp>(base));
        return b.except(b.isZero(base), b.mul(dy, slope));
      });
}

/// Builds the gradients of an element-wise max (`loses` is Less) or min
/// (`loses` is Greater). The selected operand gets the gradient `dy`, and the
/// other operand gets 0. Two equal operands get `dy` / 2 each.
template <typename Op>
static Gradients extreme(GradientBuilder &b, Op op, Predicate loses, Value dy) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  auto share = [&](Value own, Value other) {
    Value equal = b.compare(Predicate::Equal, own, other);
    return b.except(b.compare(loses, own, other),
                    b.select(equal, b.mul(dy, 0.5), dy));
  };
  return binary(
      b, op, [&] { return share(lhs, rhs); }, [&] { return share(rhs, lhs); });
}

Gradients MaxOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return extreme(b, *this, Predicate::Less, gradients.front());
}

Gradients MinOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return extreme(b, *this, Predicate::Greater, gradients.front());
}

Gradients SelectOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  SmallVector<Value> operands(3);
  if (b.wants(getOnTrue()))
    operands[1] =
        b.sumTo(b.where(getCondition(), gradients.front()), getOnTrue());
  if (b.wants(getOnFalse()))
    operands[2] =
        b.sumTo(b.except(getCondition(), gradients.front()), getOnFalse());
  return operands;
}
