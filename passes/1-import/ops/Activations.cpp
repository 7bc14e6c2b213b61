//===- Activations.cpp - import of activation functions and softmax -------===//

#include "passes/1-import/build/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Creates max(x, 0).
static Value positive(NodeImport &n, Value x) {
  return n.make<MaxOp>(x, n.scalarLike(x, 0));
}

/// Creates min(x, 0).
static Value negative(NodeImport &n, Value x) {
  return n.make<MinOp>(x, n.scalarLike(x, 0));
}

static Value scale(NodeImport &n, Value x, double factor) {
  return n.mul(x, n.scalarLike(x, factor));
}

static Value shift(NodeImport &n, Value x, double offset) {
  return n.add(x, n.scalarLike(x, offset));
}

/// Imports ONNX's Gelu (Hendrycks & Gimpel 2016): the exact function with erf,
/// or the tanh approximation if the attribute `approximate` is "tanh".
static Value gelu(NodeImport &n) {
  std::string approximation = n.text("approximate", "none");
  if (approximation != "none" && approximation != "tanh")
    return n.invalid("approximate is '" + approximation +
                     "', not none or tanh");
  return n.make<GeluOp>(n.operand(0), approximation == "tanh");
}

/// Imports the ops Gelu, BiasGelu and FastGelu of the domain com.microsoft. The
/// result is gelu(operand 0 + operand 1). Operand 1, the bias, may be absent.
/// `tanh` is true for FastGelu, which uses the tanh approximation of gelu. Gelu
/// and BiasGelu use the exact function with erf.
template <bool tanh> static Value geluWithBias(NodeImport &n) {
  Value x = n.operand(0);
  return n.make<GeluOp>(n.has(1) ? n.add(x, n.operand(1)) : x, tanh);
}

/// Creates the formula that Elu, Celu and Selu share, where x is operand 0:
///
///   max(x, 0) + alpha · (exp(min(x, 0) / width) - 1)
///
/// The divisor `width` is `alpha` for Celu, and 1 for Elu and Selu.
static Value exponentialUnit(NodeImport &n, double alpha, double width) {
  Value x = n.operand(0),
        below = n.make<ExpOp>(scale(n, negative(n, x), 1 / width));
  return n.add(positive(n, x), scale(n, shift(n, below, -1), alpha));
}

static Value elu(NodeImport &n) {
  return exponentialUnit(n, n.real("alpha", 1), 1);
}

static Value celu(NodeImport &n) {
  double alpha = n.real("alpha", 1);
  return exponentialUnit(n, alpha, alpha);
}

/// Imports Selu (Klambauer et al. 2017). The result is gamma · x where x > 0,
/// else gamma · alpha · (exp(x) - 1). alpha and gamma are attributes. Their
/// default values depend on the opset: the values before opset 6 have only four
/// decimal places.
static Value selu(NodeImport &n) {
  double alpha = n.real("alpha",
                        n.opset() < 6 ? 1.6732 : 1.67326319217681884765625),
         gamma = n.real("gamma",
                        n.opset() < 6 ? 1.0507 : 1.05070102214813232421875);
  return scale(n, exponentialUnit(n, alpha, 1), gamma);
}

static Value leakyRelu(NodeImport &n) {
  Value x = n.operand(0);
  return n.add(positive(n, x), scale(n, negative(n, x), n.real("alpha", 0.01)));
}

/// Imports PRelu: x where x is positive, and slope · x elsewhere. Before opset
/// 7, a slope of rank 1 has one element per channel (dim 1 of x). The slope is
/// then reshaped, for example from [3] to [3, 1, 1], so that it broadcasts.
static Value prelu(NodeImport &n) {
  Value x = n.operand(0), slope = n.operand(1);
  if (n.opset() < 7 && shapeOf(slope).size() == 1 && shapeOf(x).size() > 2) {
    SmallVector<int64_t> shape(shapeOf(x).size() - 1, 1);
    shape[0] = shapeOf(slope)[0];
    slope = n.reshape(slope, shape);
  }
  Value isNegative = n.compare(Predicate::Less, x, n.scalarLike(x, 0));
  return n.select(isNegative, n.mul(x, slope), x);
}

/// Creates max(0, min(1, alpha x + beta)).
static Value hardSigmoid(NodeImport &n, Value x, double alpha, double beta) {
  Value line = shift(n, scale(n, x, alpha), beta);
  return n.make<MinOp>(positive(n, line), n.scalarLike(x, 1));
}

static Value hardSigmoid(NodeImport &n) {
  return hardSigmoid(n, n.operand(0), n.real("alpha", 0.2),
                     n.real("beta", 0.5));
}

static Value hardSwish(NodeImport &n) {
  Value x = n.operand(0);
  return n.mul(x, hardSigmoid(n, x, 1.0 / 6, 0.5));
}

static Value softsign(NodeImport &n) {
  Value x = n.operand(0);
  return n.div(x, shift(n, n.make<AbsOp>(x), 1));
}

/// Imports Mish: x tanh(softplus(x)).
static Value mish(NodeImport &n) {
  Value x = n.operand(0);
  return n.mul(x, n.make<TanhOp>(n.make<SoftplusOp>(x)));
}

/// Imports Swish: x sigmoid(alpha x).
static Value swish(NodeImport &n) {
  Value x = n.operand(0);
  double alpha = n.real("alpha", 1);
  return n.mul(x, n.make<SigmoidOp>(alpha == 1 ? x : scale(n, x, alpha)));
}

static Value thresholdedRelu(NodeImport &n) {
  Value x = n.operand(0);
  Value above =
      n.compare(Predicate::Greater, x, n.scalarLike(x, n.real("alpha", 1)));
  return n.select(above, x, n.scalarLike(x, 0));
}

/// Imports Shrink: x + bias where x < -lambd, x - bias where x > lambd, and 0
/// elsewhere.
static Value shrink(NodeImport &n) {
  Value x = n.operand(0), zero = n.scalarLike(x, 0);
  double lambda = n.real("lambd", 0.5), bias = n.real("bias", 0);
  Value below = n.compare(Predicate::Less, x, n.scalarLike(x, -lambda)),
        above = n.compare(Predicate::Greater, x, n.scalarLike(x, lambda));
  return n.select(below, shift(n, x, bias),
                  n.select(above, shift(n, x, -bias), zero));
}

//===----------------------------------------------------------------------===//
// Along one dim
//===----------------------------------------------------------------------===//

/// Imports an op such as Softmax along the dim that the attribute `axis` names.
/// `make(x, dim)` must create the op along dim `dim` of `x`. Before opset 13,
/// ONNX treats all dims from `axis` on as one dim. For an operand [2, 3, 4] and
/// `axis` 1, `x` is then the operand reshaped to [2, 12], and `dim` is 1.
static Value alongDim(NodeImport &n,
                      llvm::function_ref<Value(Value, int64_t)> make) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  int64_t rank = shapeOf(x).size();
  int64_t dim = n.dim("axis", n.opset() < 13 ? 1 : -1, rank);
  if (n.failed())
    return {};
  if (n.opset() >= 13 || dim == rank - 1)
    return make(x, dim);
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t outer = llvm::product_of(ArrayRef(shape).take_front(dim)),
          inner = llvm::product_of(ArrayRef(shape).drop_front(dim));
  Value flat = make(n.reshape(x, {outer, inner}), 1);
  return n.reshape(flat, shape);
}

/// Imports Softmax or LogSoftmax of ONNX. `Op` is the op that the import
/// creates in pcc's dialect `graph`: SoftmaxOp or LogSoftmaxOp.
template <typename Op> static Value softmax(NodeImport &n) {
  return alongDim(n, [&](Value x, int64_t dim) {
    return n.make<Op>(x, static_cast<uint64_t>(dim));
  });
}

/// Imports Hardmax: 1 at the largest element along the dim that the attribute
/// `axis` names, 0 elsewhere. If several elements are largest, only the first
/// gets 1.
static Value hardmax(NodeImport &n) {
  return alongDim(n, [&](Value x, int64_t dim) {
    Value largest = n.make<ArgReduceOp>(
        ReduceKind::Max, x, static_cast<uint64_t>(dim), true, false);
    SmallVector<int64_t> shape(shapeOf(x).size(), 1);
    shape[dim] = shapeOf(x)[dim];
    Value hit = n.compare(Predicate::Equal, n.iota(shape, dim), largest);
    return n.cast(hit, n.elementType(0));
  });
}

void addActivationOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Gelu", 20, 1, 1, gelu},
      {"Elu", 1, 1, 1, elu},
      {"Celu", 12, 1, 1, celu},
      {"Selu", 1, 1, 1, selu},
      {"LeakyRelu", 1, 1, 1, leakyRelu},
      {"PRelu", 1, 2, 2, prelu},
      {"HardSigmoid", 1, 1, 1, hardSigmoid},
      {"HardSwish", 14, 1, 1, hardSwish},
      {"Softsign", 1, 1, 1, softsign},
      {"Mish", 18, 1, 1, mish},
      {"Swish", 24, 1, 1, swish},
      {"ThresholdedRelu", 10, 1, 1, thresholdedRelu},
      {"Shrink", 9, 1, 1, shrink},
      {"Softmax", 1, 1, 1, softmax<SoftmaxOp>},
      {"LogSoftmax", 1, 1, 1, softmax<LogSoftmaxOp>},
      {"Hardmax", 1, 1, 1, hardmax},
  };
  table.add("", forms);
  static constexpr OpForm microsoft[] = {
      {"Gelu", 1, 1, 1, geluWithBias<false>},
      {"BiasGelu", 1, 2, 2, geluWithBias<false>},
      {"FastGelu", 1, 1, 2, geluWithBias<true>},
  };
  table.add("com.microsoft", microsoft);
}

} // namespace pcc::onnx_import
