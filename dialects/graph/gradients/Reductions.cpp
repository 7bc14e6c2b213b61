//===- Reductions.cpp - gradients of reductions, scans and top-k ----------===//

#include "dialects/graph/gradients/ScatterGradients.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Reshapes `reduced` to the shape of the operand of `op`, except that each
/// reduced dim has size 1. `reduced` must have the shape of the result of `op`,
/// in which the reduced dims may be absent. For example, `op` reduces an
/// operand [2, 3, 4] over dim 1, and its result has the shape [2, 4]:
///
///   `reduced` [2, 4]:  reshaped to [2, 1, 4]
static Value kept(GradientBuilder &b, ReduceOp op, Value reduced) {
  SmallVector<int64_t> shape(tensorType(op.getInput()).getShape());
  for (int64_t dim : op.getDims())
    shape[dim] = 1;
  return b.reshape(reduced, shape);
}

/// Returns the number by which `op`, a mean, divides sums. It is the attribute
/// `divisor` or, without that attribute, the number of elements in each sum.
static double divisorOf(ReduceOp op) {
  if (auto given = op.getDivisor())
    return static_cast<double>(*given);
  double count = 1;
  for (int64_t dim : op.getDims())
    count *= static_cast<double>(tensorType(op.getInput()).getDimSize(dim));
  return count;
}

/// Builds the gradient of the operand of `op`, a reduction by max or min. `dy`
/// is the gradient of the result. The operand elements that are equal to the
/// result get equal shares of `dy`. All other operand elements get 0. In this
/// example, the operand of max has two elements that are equal to the result 5:
///
///   operand [5 2 5], dy [g]:  [g/2 0 g/2]
static Value shared(GradientBuilder &b, ReduceOp op, Value dy) {
  Value x = op.getInput();
  Value wins = b.compare(Predicate::Equal, x, kept(b, op, op.getResult()));
  Value count = b.sum(b.widen(b.castLike(wins, x)), op.getDims());
  return b.where(wins, b.castLike(b.div(b.widen(dy), count), x));
}

/// Builds, for each operand element of a product reduction, the product of all
/// other elements that are reduced with it:
///
///   [2 5 3]:  [15 6 10]
///   [2 0 3]:  [0 6 0]
static Value productOfOthers(GradientBuilder &b, ReduceOp op) {
  Value x = op.getInput();
  Value zero = b.isZero(x), own = b.castLike(zero, x);
  Value nonzero = b.select(zero, b.like(x, 1), x);
  Value product = b.reduce(ReduceKind::Prod, nonzero, op.getDims());
  Value otherZeros = b.sub(b.sum(own, op.getDims()), own);
  return b.where(b.isZero(otherZeros), b.div(product, nonzero));
}

Gradients ReduceOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value x = getInput(), dy = kept(b, *this, gradients.front());
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  switch (getKind()) {
  case ReduceKind::Sum:
    return onlyGradient(b.broadcast(dy, shape));
  case ReduceKind::Mean:
    return onlyGradient(b.broadcast(b.div(dy, divisorOf(*this)), shape));
  case ReduceKind::Max:
  case ReduceKind::Min:
    return onlyGradient(shared(b, *this, dy));
  case ReduceKind::Prod:
    return onlyGradient(b.mul(dy, productOfOthers(b, *this)));
  }
  return onlyGradient({});
}

//===----------------------------------------------------------------------===//
// cumsum, topk
//===----------------------------------------------------------------------===//

Gradients CumSumOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front();
  return onlyGradient(b.make<CumSumOp>(dy.getType(), dy, getDim(),
                                       getExclusive(), !getReverse()));
}

/// Builds the gradient of a topk's operand: scatters the gradient of the k
/// values into zeros. ScatterKind::Set suffices, because the indices along the
/// dim are all different.
Gradients TopKOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return onlyGradient(gatherBack(b, ScatterKind::Set, gradients.front(),
                                 getIndices(), getInput(), getDim()));
}
