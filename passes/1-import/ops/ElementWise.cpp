//===- ElementWise.cpp - import of arithmetic, comparisons and casts ------===//

#include "passes/1-import/build/OpTable.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Imports a node with one operand as the graph op `Op`.
template <typename Op> static Value unary(NodeImport &n) {
  return n.make<Op>(n.operand(0));
}

/// Reshapes `rhs` so that NumPy's rule broadcasts it to the shape of `lhs`.
/// Before opset 7, the attribute `axis` is the dim of `lhs` that aligns with
/// dim 0 of `rhs`. Example for axis 1 and `lhs` of shape [2, 3, 4]: [3] becomes
/// [3, 1].
static Value alignOld(NodeImport &n, Value lhs, Value rhs) {
  int64_t rank = shapeOf(lhs).size(), own = shapeOf(rhs).size();
  if (n.opset() >= 7 || !n.hasAttribute("axis") || own >= rank)
    return rhs;
  int64_t dim = n.dim("axis", -1, rank);
  SmallVector<int64_t> shape(shapeOf(rhs));
  shape.append(std::max<int64_t>(0, rank - dim - own), 1);
  return n.reshape(rhs, shape);
}

/// Imports a node with two operands, which broadcast, as the graph op `Op`.
template <typename Op> static Value binary(NodeImport &n) {
  Value lhs = n.operand(0), rhs = n.operand(1);
  return n.make<Op>(lhs, alignOld(n, lhs, rhs));
}

template <Predicate predicate> static Value comparison(NodeImport &n) {
  Value lhs = n.operand(0), rhs = n.operand(1);
  return n.compare(predicate, lhs, alignOld(n, lhs, rhs));
}

/// Imports a node with any number of operands by applying the op `Op` of two
/// operands from left to right, as in ((a + b) + c).
template <typename Op> static Value variadic(NodeImport &n) {
  Value result = n.operand(0);
  for (Value next : n.operands(1))
    result = n.make<Op>(result, next);
  return result;
}

static Value mean(NodeImport &n) {
  Value sum = variadic<AddOp>(n);
  return n.div(sum, n.scalarLike(sum, n.numOperands()));
}

/// Imports Pow. For an integer base and a float exponent, the power is computed
/// in the exponent's type.
static Value power(NodeImport &n) {
  Value base = n.operand(0), exponent = n.operand(1);
  if (n.failed())
    return {};
  exponent = alignOld(n, base, exponent);
  Type type = n.elementType(0), other = n.elementType(1);
  if (!isa<FloatType>(type) && isa<FloatType>(other))
    return n.cast(n.make<PowOp>(n.cast(base, other), exponent), type);
  return n.make<PowOp>(base, n.cast(exponent, type));
}

/// Imports Mod, the remainder of a division. The remainder has the sign of the
/// divisor if fmod is 0, and of the dividend if fmod is 1. ONNX does not allow
/// fmod 0 for floats.
static Value remainder(NodeImport &n) {
  bool truncated = n.integer("fmod", 0);
  if (!truncated && isa<FloatType>(n.elementType(0)))
    return n.invalid("fmod is 0, and must be 1 for floats");
  return n.make<ModOp>(n.operand(0), n.operand(1), truncated);
}

/// Imports BitShift: a left shift multiplies by a power of two, a right shift
/// divides by it.
static Value bitShift(NodeImport &n) {
  std::string direction = n.text("direction", "");
  Value base = n.operand(0),
        factor = n.make<PowOp>(n.scalarLike(base, 2), n.operand(1));
  if (direction == "LEFT")
    return n.mul(base, factor);
  if (direction == "RIGHT")
    return n.div(base, factor);
  return n.invalid("direction is '" + direction + "', not LEFT or RIGHT");
}

static Value isInf(NodeImport &n) {
  bool negative = n.integer("detect_negative", 1),
       positive = n.integer("detect_positive", 1);
  return n.make<IsInfOp>(n.operand(0), negative, positive);
}

static Value where(NodeImport &n) {
  return n.select(n.operand(0), n.operand(1), n.operand(2));
}

static Value castTo(NodeImport &n) {
  if (!n.hasAttribute("to"))
    return n.invalid("lacks the attribute 'to'");
  return n.cast(n.operand(0), n.typeOf(n.integer("to", 0)));
}

static Value castLike(NodeImport &n) {
  return n.cast(n.operand(0), n.elementType(1));
}

/// Imports Clip, which limits elements to [min, max]. Both limits are optional.
/// Before opset 11 they were attributes instead of operands.
static Value clip(NodeImport &n) {
  Value result = n.operand(0);
  Value low = n.has(1)                ? n.operand(1)
              : n.hasAttribute("min") ? n.scalarLike(result, n.real("min", 0))
                                      : Value();
  Value high = n.has(2)                ? n.operand(2)
               : n.hasAttribute("max") ? n.scalarLike(result, n.real("max", 0))
                                       : Value();
  if (low)
    result = n.make<MaxOp>(result, low);
  return high ? n.make<MinOp>(result, high) : result;
}

static Value identity(NodeImport &n) { return n.operand(0); }

static constexpr OpForm elementWiseForms[] = {
    {"Neg", 1, 1, 1, unary<NegOp>},
    {"Abs", 1, 1, 1, unary<AbsOp>},
    {"Exp", 1, 1, 1, unary<ExpOp>},
    {"Log", 1, 1, 1, unary<LogOp>},
    {"Sqrt", 1, 1, 1, unary<SqrtOp>},
    {"Reciprocal", 1, 1, 1, unary<ReciprocalOp>},
    {"Tanh", 1, 1, 1, unary<TanhOp>},
    {"Erf", 9, 1, 1, unary<ErfOp>},
    {"Sigmoid", 1, 1, 1, unary<SigmoidOp>},
    {"Relu", 1, 1, 1, unary<ReluOp>},
    {"Softplus", 1, 1, 1, unary<SoftplusOp>},
    {"Sin", 7, 1, 1, unary<SinOp>},
    {"Cos", 7, 1, 1, unary<CosOp>},
    {"Tan", 7, 1, 1, unary<TanOp>},
    {"Asin", 7, 1, 1, unary<AsinOp>},
    {"Acos", 7, 1, 1, unary<AcosOp>},
    {"Atan", 7, 1, 1, unary<AtanOp>},
    {"Sinh", 9, 1, 1, unary<SinhOp>},
    {"Cosh", 9, 1, 1, unary<CoshOp>},
    {"Asinh", 9, 1, 1, unary<AsinhOp>},
    {"Acosh", 9, 1, 1, unary<AcoshOp>},
    {"Atanh", 9, 1, 1, unary<AtanhOp>},
    {"Floor", 1, 1, 1, unary<FloorOp>},
    {"Ceil", 1, 1, 1, unary<CeilOp>},
    {"Round", 11, 1, 1, unary<RoundOp>},
    {"Sign", 9, 1, 1, unary<SignOp>},
    {"Not", 1, 1, 1, unary<NotOp>},
    {"BitwiseNot", 18, 1, 1, unary<NotOp>},
    {"IsNaN", 9, 1, 1, unary<IsNanOp>},
    {"IsInf", 10, 1, 1, isInf},
    {"Add", 1, 2, 2, binary<AddOp>},
    {"Sub", 1, 2, 2, binary<SubOp>},
    {"Mul", 1, 2, 2, binary<MulOp>},
    {"Div", 1, 2, 2, binary<DivOp>},
    {"Pow", 1, 2, 2, power},
    {"Mod", 10, 2, 2, remainder},
    {"And", 1, 2, 2, binary<AndOp>},
    {"Or", 1, 2, 2, binary<OrOp>},
    {"Xor", 1, 2, 2, binary<XorOp>},
    {"BitwiseAnd", 18, 2, 2, binary<BitAndOp>},
    {"BitwiseOr", 18, 2, 2, binary<BitOrOp>},
    {"BitwiseXor", 18, 2, 2, binary<BitXorOp>},
    {"BitShift", 11, 2, 2, bitShift},
    {"Max", 1, 1, anyNumber, variadic<MaxOp>},
    {"Min", 1, 1, anyNumber, variadic<MinOp>},
    {"Sum", 1, 1, anyNumber, variadic<AddOp>},
    {"Mean", 1, 1, anyNumber, mean},
    {"Equal", 1, 2, 2, comparison<Predicate::Equal>},
    {"Less", 1, 2, 2, comparison<Predicate::Less>},
    {"LessOrEqual", 12, 2, 2, comparison<Predicate::LessOrEqual>},
    {"Greater", 1, 2, 2, comparison<Predicate::Greater>},
    {"GreaterOrEqual", 12, 2, 2, comparison<Predicate::GreaterOrEqual>},
    {"Where", 9, 3, 3, where},
    {"Cast", 1, 1, 1, castTo},
    {"CastLike", 15, 2, 2, castLike},
    {"Clip", 1, 1, 3, clip},
    {"Identity", 1, 1, 1, identity},
};

void addElementWiseOps(OpTable &table) { table.add("", elementWiseForms); }

} // namespace pcc::onnx_import
