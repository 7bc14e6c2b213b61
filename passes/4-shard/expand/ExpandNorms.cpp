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

  /// Returns the sum of `value` over the dims of the norm. If ranks split one
  /// of these dims, the result is a partial sum.
  Value sum(ShardedBuilder &b, Value value) const {
    return b.reduce(graph::ReduceKind::Sum, value, dims);
  }
  /// Returns the mean of a value whose sum over the dims is `sum`. The mean is
  /// `sum` divided by the number of elements without padding. If `sum` is a
  /// partial sum, it is reduced over ranks before the division.
  Value mean(ShardedBuilder &b, Value sum) const {
    return b.make<graph::DivOp>(sum, b.scalarLike(sum, count));
  }

  /// Indices of the dims, and the number of elements over all of them together.
  SmallVector<int64_t> dims;
  int64_t count = 1;
};
} // namespace

/// Returns value / √(square + epsilon) · scale + bias, converted to element
/// type `type`. `square` is the variance or the mean square. If `bias` is null,
/// it is not added.
static Value scaled(ShardedBuilder &b, Value value, Value square,
                    double epsilon, Value scale, Value bias, Type type) {
  Value shifted = b.make<graph::AddOp>(square, b.scalarLike(square, epsilon));
  Value inverse = b.make<graph::ReciprocalOp>(b.make<graph::SqrtOp>(shifted));
  Type wide = graph::tensorType(value).getElementType();
  Value y = b.make<graph::MulOp>(b.make<graph::MulOp>(value, inverse),
                                 b.cast(scale, wide));
  if (bias)
    y = b.make<graph::AddOp>(y, b.cast(bias, wide));
  return b.cast(y, type);
}

/// Replaces a layer norm along split dims by ordinary ops. They need only one
/// all-reduce, because both sums are joined in one tensor (n is the number of
/// elements):
///
///   mean = Σ x / n    variance = Σ x² / n - mean², at least 0
static SmallVector<Value, 2> expandLayerNorm(const ShardedOp &op,
                                             ShardedBuilder &b) {
  auto norm = cast<graph::LayerNormOp>(op.op);
  Value x = b.widen(norm.getInput());
  NormDims over(x, norm.getDim());
  int64_t last = graph::tensorType(x).getRank() - 1;
  Value pair = b.makeLinear<graph::ConcatOp>(
      ValueRange{over.sum(b, x), over.sum(b, b.make<graph::MulOp>(x, x))},
      b.getI64IntegerAttr(last));
  Value mean = over.mean(b, b.sliceDim(pair, last, 0, 1));
  Value square = over.mean(b, b.sliceDim(pair, last, 1, 1));
  Value variance =
      b.make<graph::SubOp>(square, b.make<graph::MulOp>(mean, mean));
  // The variance is a difference of two rounded numbers, so it can be negative.
  variance = b.make<graph::MaxOp>(variance, b.scalarLike(variance, 0));
  return {scaled(b, b.make<graph::SubOp>(x, mean), variance,
                 norm.getEpsilon().convertToDouble(), norm.getScale(),
                 norm.getBias(),
                 graph::tensorType(norm.getResult()).getElementType())};
}

/// Replaces an RMS norm along split dims by ordinary ops. The new ops need one
/// all-reduce, of the sum of squares Σ x².
static SmallVector<Value, 2> expandRmsNorm(const ShardedOp &op,
                                           ShardedBuilder &b) {
  auto norm = cast<graph::RmsNormOp>(op.op);
  Value x = b.widen(norm.getInput());
  NormDims over(x, norm.getDim());
  Value square = over.mean(b, over.sum(b, b.make<graph::MulOp>(x, x)));
  return {scaled(b, x, square, norm.getEpsilon().convertToDouble(),
                 norm.getScale(), {},
                 graph::tensorType(norm.getResult()).getElementType())};
}

void pcc::shard::addNormExpansions(Expansions &expansions) {
  expansions.add<graph::LayerNormOp>(expandLayerNorm);
  expansions.add<graph::RmsNormOp>(expandRmsNorm);
}
