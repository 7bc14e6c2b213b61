//===- Norms.cpp - gradients of softmaxes and norms -----------------------===//
//
// Statistics of rows are recomputed from the operand and not stored by the
// forward pass. This costs no extra memory traffic, because the gradient reads
// the rows anyway. Types narrower than f32 are computed in f32, as in the
// forward ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// Softmaxes
//===----------------------------------------------------------------------===//

/// Builds the gradient of the operand of softmax. In this formula, y is the
/// result of softmax, dy is the gradient of y, and the sum is along the dim of
/// the softmax:
///
///   gradient = y · (dy − sum(dy · y))
Gradients SoftmaxOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value y = b.widen(getResult()), dy = b.widen(gradients.front());
  Value mean = b.sum(b.mul(dy, y), {static_cast<int64_t>(getDim())});
  return onlyGradient(b.castLike(b.mul(y, b.sub(dy, mean)), getInput()));
}

/// Builds the gradient of the operand of log_softmax. In this formula, y is the
/// result of log_softmax, dy is the gradient of y, and the sum is along the dim
/// of the log_softmax:
///
///   gradient = dy − exp(y) · sum(dy)
Gradients LogSoftmaxOp::buildGradients(GradientBuilder &b,
                                       ValueRange gradients) {
  Value y = b.widen(getResult()), dy = b.widen(gradients.front());
  Value share =
      b.mul(b.apply<ExpOp>(y), b.sum(dy, {static_cast<int64_t>(getDim())}));
  return onlyGradient(b.castLike(b.sub(dy, share), getInput()));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
/// Builds the gradients of layer_norm or rms_norm. For rms_norm, mean(x),
/// mean(g) and bias are absent.
///
///   h = (x − mean(x)) / deviation,  result = h · scale + bias,  g = dy · scale
///   dx = (g − mean(g) − h · mean(g · h)) / deviation,  d scale = Σ dy · h
template <typename Op> class NormGradient {
public:
  static constexpr bool isCentred = std::is_same_v<Op, LayerNormOp>;

  NormGradient(GradientBuilder &b, Op op, Value gradient)
      : b(b), op(op), dy(b.widen(gradient)) {
    int64_t rank = tensorType(op.getInput()).getRank();
    for (int64_t dim = op.getDim(); dim < rank; ++dim)
      row.push_back(dim);
    normalise();
  }

  /// Returns the gradient of the operand x.
  Value ofInput() {
    Value g = b.mul(dy, b.widen(op.getScale()));
    Value along = b.mul(normalised, mean(b.mul(g, normalised)));
    Value rest = b.sub(isCentred ? b.sub(g, mean(g)) : g, along);
    return b.castLike(b.mul(rest, factor), op.getInput());
  }
  /// Returns the gradient of the operand `scale`.
  Value ofScale() { return b.sumTo(b.mul(dy, normalised), op.getScale()); }

private:
  /// Builds the mean of `value` over the normalized dims.
  Value mean(Value value) { return b.reduce(ReduceKind::Mean, value, row); }

  /// Sets `normalised` to the normalized operand, without scale and bias. Also
  /// sets `factor` to 1 / deviation, where the deviation is the standard
  /// deviation for layer_norm and the root mean square for rms_norm.
  void normalise() {
    Value x = b.widen(op.getInput());
    Value centred = isCentred ? b.sub(x, mean(x)) : x;
    Value variance = mean(b.square(centred));
    Value deviation =
        b.apply<SqrtOp>(b.add(variance, op.getEpsilon().convertToDouble()));
    factor = b.apply<ReciprocalOp>(deviation);
    normalised = b.mul(centred, factor);
  }

  GradientBuilder &b;
  Op op;
  Value dy, factor, normalised;
  SmallVector<int64_t> row;
};
} // namespace

/// Builds the gradients of the operands x and scale of a norm. The gradient of
/// an operand is null if it is not needed.
template <typename Op>
static SmallVector<Value> normGradients(GradientBuilder &b, Op op, Value dy) {
  SmallVector<Value> operands(op->getNumOperands());
  if (!b.wants(op.getInput()) && !b.wants(op.getScale()))
    return operands;
  NormGradient<Op> gradient(b, op, dy);
  if (b.wants(op.getInput()))
    operands[0] = gradient.ofInput();
  if (b.wants(op.getScale()))
    operands[1] = gradient.ofScale();
  return operands;
}

Gradients LayerNormOp::buildGradients(GradientBuilder &b,
                                      ValueRange gradients) {
  Value dy = gradients.front();
  SmallVector<Value> operands = normGradients(b, *this, dy);
  if (getBias() && b.wants(getBias()))
    operands[2] = b.sumTo(b.widen(dy), getBias());
  return operands;
}

Gradients RmsNormOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return normGradients(b, *this, gradients.front());
}
