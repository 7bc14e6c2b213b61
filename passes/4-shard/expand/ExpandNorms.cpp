//===- ExpandNorms.cpp - expansion of norms over split dims ---------------===//

#include "passes/4-shard/expand/Expansions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

namespace {
/// The dims over which a norm computes its mean or its sum of squares.
struct NormDims {
  /// Selects all dims of `input` from dim number `from` to the last one.
  NormDims(Value input, int64_t from)
      : dims(llvm::to_vector(
            llvm::seq<int64_t>(from, graph::tensorType(input).getRank()))) {
    for (int64_t dim : dims)
      count *= graph::tensorType(input).getDimSize(dim);
  }

  /// Returns the mean of `value` over `dims`, across all ranks that split these
  /// dims. Padding does not count.
  Value mean(ShardedBuilder &b, Value value) const {
    Value sum = b.reduce(graph::ReduceKind::Sum, value, dims);
    return b.make<graph::DivOp>(sum, b.scalarLike(sum, count));
  }

  /// Indices of the dims over which the norm is computed, and the product of
  /// the sizes of these dims.
  SmallVector<int64_t> dims;
  int64_t count = 1;
};
} // namespace

/// Returns `value` plus `term`, also the part of `term` that a constant of the
/// element type loses.
static Value plus(ShardedBuilder &b, Value value, double term) {
  Value sum = b.make<graph::AddOp>(value, b.scalarLike(value, term));
  const double rest = b.roundingError(value, term);
  return rest == 0 ? sum : b.make<graph::AddOp>(sum, b.scalarLike(value, rest));
}

/// Returns value / √(square + epsilon) · scale + bias in the element type
/// `type`. In an RMS norm of x, `value` is x and `square` is the mean of x². In
/// a layer norm, they are x - mean and the variance of x. `bias` may be null.
static Value scaled(ShardedBuilder &b, Value value, Value square,
                    double epsilon, Value scale, Value bias, Type type) {
  Value root = b.make<graph::SqrtOp>(plus(b, square, epsilon));
  Value inverse = b.make<graph::ReciprocalOp>(root);
  Type wide = graph::tensorType(value).getElementType();
  Value y = b.make<graph::MulOp>(b.make<graph::MulOp>(value, inverse),
                                 b.cast(scale, wide));
  if (bias)
    y = b.make<graph::AddOp>(y, b.cast(bias, wide));
  return b.cast(y, type);
}

/// Replaces a layer norm over split dims by simpler ops. The simpler ops need
/// two all-reduces: for Σ x, then for Σ (x - mean)². One all-reduce of Σ x and
/// Σ x² would be inaccurate for a large mean.
static SmallVector<Value, 2> expandLayerNorm(const ShardedOp &op,
                                             ShardedBuilder &b) {
  auto norm = cast<graph::LayerNormOp>(op.op);
  Value x = b.widen(norm.getInput());
  NormDims over(x, norm.getDim());
  Value centred = b.make<graph::SubOp>(x, over.mean(b, x));
  Value variance = over.mean(b, b.make<graph::MulOp>(centred, centred));
  return {scaled(b, centred, variance, norm.getEpsilon().convertToDouble(),
                 norm.getScale(), norm.getBias(),
                 graph::tensorType(norm.getResult()).getElementType())};
}

/// Replaces an RMS norm by several simpler ops. Ranks split the dims over which
/// the norm computes the sum of squares Σ x². Each rank has only a part of the
/// elements, so one all-reduce adds the sums of all ranks.
static SmallVector<Value, 2> expandRmsNorm(const ShardedOp &op,
                                           ShardedBuilder &b) {
  auto norm = cast<graph::RmsNormOp>(op.op);
  Value x = b.widen(norm.getInput());
  NormDims over(x, norm.getDim());
  Value square = over.mean(b, b.make<graph::MulOp>(x, x));
  return {scaled(b, x, square, norm.getEpsilon().convertToDouble(),
                 norm.getScale(), {},
                 graph::tensorType(norm.getResult()).getElementType())};
}

void pcc::shard::addNormExpansions(Expansions &expansions) {
  expansions.add<graph::LayerNormOp>(expandLayerNorm);
  expansions.add<graph::RmsNormOp>(expandRmsNorm);
}
