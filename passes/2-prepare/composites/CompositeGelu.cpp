//===- CompositeGelu.cpp - gelu from erf or tanh --------------------------===//
//
//   0.5 · x · (1 + erf(s · x))
//   0.5 · x · (1 + tanh(s · x + s · k · x³))
//
// in any order of the factors and however the polynomial is written. The
// constants of a model are rounded to its type: s and k are kept as they are.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/SetVector.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// Coefficients of 1, x, x², x³.
using Polynomial = std::array<double, 4>;

static std::optional<Polynomial> product(const std::optional<Polynomial> &a,
                                         const std::optional<Polynomial> &b) {
  if (!a || !b)
    return {};
  Polynomial result{};
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) {
      double term = (*a)[i] * (*b)[j];
      if (term != 0 && i + j > 3)
        return {};
      if (i + j <= 3)
        result[i + j] += term;
    }
  return result;
}

static std::optional<Polynomial> sum(const std::optional<Polynomial> &a,
                                     const std::optional<Polynomial> &b) {
  if (!a || !b)
    return {};
  Polynomial result;
  for (size_t i = 0; i < 4; ++i)
    result[i] = (*a)[i] + (*b)[i];
  return result;
}

/// `value` as a polynomial in `x` of degree 3 at most; none if it is no such
/// thing.
static std::optional<Polynomial> polynomial(Value value, Value x, int depth) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (auto number = uniformValue(value))
    return Polynomial{*number, 0, 0, 0};
  if (depth == 0)
    return {};
  auto of = [&](Value operand) { return polynomial(operand, x, depth - 1); };
  if (auto op = definedBy<AddOp>(value))
    return sum(of(op.getLhs()), of(op.getRhs()));
  if (auto op = definedBy<MulOp>(value))
    return product(of(op.getLhs()), of(op.getRhs()));
  if (auto op = definedBy<DivOp>(value)) {
    auto divisor = uniformValue(op.getRhs());
    return divisor ? product(of(op.getLhs()), Polynomial{1 / *divisor, 0, 0, 0})
                   : std::nullopt;
  }
  auto power = definedBy<PowOp>(value);
  auto exponent = power ? uniformValue(power.getRhs()) : std::nullopt;
  if (!exponent || (*exponent != 2 && *exponent != 3))
    return {};
  auto base = of(power.getLhs()), square = product(base, base);
  return *exponent == 2 ? square : product(square, base);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static constexpr int maxDepth = 8;

/// `value` as a number times factors that are no products; `x` is none.
static double factorsOf(Value value, Value x, SmallVectorImpl<Value> &factors,
                        int depth) {
  if (auto number = uniformValue(value))
    return *number;
  if (value != x && depth > 0) {
    if (auto op = definedBy<MulOp>(value))
      return factorsOf(op.getLhs(), x, factors, depth - 1) *
             factorsOf(op.getRhs(), x, factors, depth - 1);
    auto op = definedBy<DivOp>(value);
    auto divisor = op ? uniformValue(op.getRhs()) : std::nullopt;
    if (divisor)
      return factorsOf(op.getLhs(), x, factors, depth - 1) / *divisor;
  }
  factors.push_back(value);
  return 1;
}

/// The erf or tanh of `value` = 1 + erf(…); null if it is something else.
static Operation *curveOf(Value value) {
  auto add = definedBy<AddOp>(value);
  Value curve =
      add ? otherOperand(add,
                         [](Value operand) { return isUniform(operand, 1); })
          : Value();
  if (!curve)
    return nullptr;
  if (auto erf = definedBy<ErfOp>(curve))
    return erf;
  return definedBy<TanhOp>(curve);
}

/// Values that `value` is computed from by sums and products: one of them is
/// the x of the curve.
static void addCandidates(Value value, llvm::SetVector<Value> &candidates,
                          int depth) {
  Operation *op = value.getDefiningOp();
  if (uniformValue(value) || !candidates.insert(value) || depth == 0 || !op ||
      !isa<AddOp, MulOp, DivOp, PowOp>(op) || op->hasAttr(pinnedName))
    return;
  for (Value operand : op->getOperands())
    addCandidates(operand, candidates, depth - 1);
}

static bool isNear(double value, double expected) {
  return std::fabs(value - expected) < 0.01 * expected;
}

/// Whether `root` is 0.5 · x · gate.
static bool isHalfProduct(Value root, Value x, Value gate) {
  SmallVector<Value> factors;
  double number = factorsOf(root, x, factors, maxDepth);
  return number == 0.5 && factors.size() == 2 &&
         llvm::is_contained(factors, x) && llvm::is_contained(factors, gate);
}

//===----------------------------------------------------------------------===//
// Gelu
//===----------------------------------------------------------------------===//

/// The gelu of `x` whose curve is `curve`; null if the curve is another one.
static Value makeGelu(MulOp root, Operation *curve, Value x,
                      PatternRewriter &rewriter) {
  auto argument = polynomial(curve->getOperand(0), x, maxDepth);
  if (!argument || (*argument)[0] != 0 || (*argument)[2] != 0)
    return {};
  bool tanh = isa<TanhOp>(curve);
  double slope = (*argument)[1], cubic = (*argument)[3] / slope;
  if (!isNear(slope, tanh ? std::sqrt(M_2_PI) : M_SQRT1_2) ||
      (tanh ? !isNear(cubic, 0.044715) : cubic != 0))
    return {};
  return GeluOp::create(rewriter, root.getLoc(), x,
                        tanh ? rewriter.getUnitAttr() : UnitAttr(),
                        rewriter.getF64FloatAttr(slope),
                        tanh ? rewriter.getF64FloatAttr(cubic) : FloatAttr());
}

static Value gelu(MulOp root, PatternRewriter &rewriter) {
  SmallVector<Value> factors;
  factorsOf(root.getResult(), Value(), factors, maxDepth);
  for (Value gate : factors) {
    Operation *curve = curveOf(gate);
    if (!curve)
      continue;
    llvm::SetVector<Value> candidates;
    addCandidates(curve->getOperand(0), candidates, maxDepth);
    for (Value x : candidates)
      if (x.getType() == root.getType() &&
          isHalfProduct(root.getResult(), x, gate))
        if (Value result = makeGelu(root, curve, x, rewriter))
          return result;
  }
  return {};
}

void pcc::prepare::addGeluPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, gelu);
}
