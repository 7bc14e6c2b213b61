//===- CompositeGelu.cpp - gelu from erf or tanh --------------------------===//
//
//   0.5 · x · (1 + erf(s · x))
//   0.5 · x · (1 + tanh(s · x + s · k · x³))
//
// with s = 1/√2 in the first form (exact gelu; Hendrycks and Gimpel 2016), and
// s = √(2/π), k = 0.044715 in the second form (its approximation). The factors
// may stand in any order, and the polynomial may be written in any way. A model
// holds constants rounded to its own type, so s and k may be off by 1 %. The
// gelu op keeps the values of the model.
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

/// A polynomial in x: its coefficients of 1, x, x² and x³.
using Polynomial = std::array<double, 4>;

/// Returns the polynomial a · b. Returns nullopt if its degree exceeds 3, or if
/// `a` or `b` is nullopt.
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

/// Returns the polynomial a + b. Returns nullopt if `a` or `b` is nullopt.
static std::optional<Polynomial> sum(const std::optional<Polynomial> &a,
                                     const std::optional<Polynomial> &b) {
  if (!a || !b)
    return {};
  Polynomial result;
  for (size_t i = 0; i < 4; ++i)
    result[i] = (*a)[i] + (*b)[i];
  return result;
}

/// Returns the polynomial in `x` that computes `value`. Accepts sums, products,
/// divisions by a constant number, and the powers 2 and 3. Returns nullopt for
/// any other op, for a degree above 3, and for chains of more than `depth` ops.
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

/// Limit for the functions that examine a formula of the model. They consider
/// the op that computes a value, then the ops that compute the operands of this
/// op, and so on. They go back through a chain of at most this many ops.
static constexpr int maxDepth = 8;

/// Splits the product `value` into its factors. Returns the product of the
/// constant factors, and appends the other factors to `factors`. For
/// 0.5 · a · (b · c) / 4, returns 0.125 and appends a, b and c. If `value` is
/// neither a product nor a constant number, the function appends `value` and
/// returns 1. The tensor `x`, which may be null, is not split, even if it is a
/// product. `depth` is the largest number of nested products that are split.
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

/// If `value` is 1 + erf(…) or 1 + tanh(…), returns the erf or tanh op. Returns
/// null otherwise.
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

/// Adds all tensors that may be the input x of a gelu to `candidates`. `value`
/// is the operand of erf or tanh. Adds `value`, and the operands of the
/// additions, multiplications, divisions and powers that compute `value`. Adds
/// no constants. Goes back through at most `depth` ops in a chain, and not
/// through an op whose sharding the user fixes (`graph.pinned`).
static void addCandidates(Value value, llvm::SetVector<Value> &candidates,
                          int depth) {
  Operation *op = value.getDefiningOp();
  if (uniformValue(value) || !candidates.insert(value) || depth == 0 || !op ||
      !isa<AddOp, MulOp, DivOp, PowOp>(op) || op->hasAttr(pinnedName))
    return;
  for (Value operand : op->getOperands())
    addCandidates(operand, candidates, depth - 1);
}

/// Returns whether `value` differs from `expected` by less than 1 % of
/// `expected`. `expected` must be positive.
static bool isNear(double value, double expected) {
  return std::fabs(value - expected) < 0.01 * expected;
}

/// Returns whether `root` is a product of 0.5, x and gate, in any order. The
/// gate of a gelu is 1 + erf(…) or 1 + tanh(…).
static bool isHalfProduct(Value root, Value x, Value gate) {
  SmallVector<Value> factors;
  double number = factorsOf(root, x, factors, maxDepth);
  return number == 0.5 && factors.size() == 2 &&
         llvm::is_contained(factors, x) && llvm::is_contained(factors, gate);
}

//===----------------------------------------------------------------------===//
// Gelu
//===----------------------------------------------------------------------===//

/// Creates a gelu op for `root` = 0.5 · x · (1 + `curve`), where `curve` is
/// erf(x / sqrt(2)) or tanh(sqrt(2 / π) · (x + 0.044715 · x³)). The constants
/// of the model may differ by less than 1 %, and the gelu op keeps them.
/// Returns null if the operand of `curve` is another formula.
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

/// Replaces 0.5 · x · (1 + erf(a)) or 0.5 · x · (1 + tanh(a)) by the op
/// gelu(x). The operand a must be computed from x. `root` is the last
/// multiplication of the formula. The function does not know which tensor is x.
/// It tries the tensors from which a is computed, one after the other. For
/// example, if a = y / 1.414, the function tries a and y. It uses the first
/// tensor that fits the formula. Returns null if no tensor fits.
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
