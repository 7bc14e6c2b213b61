//===- ExpandNorms.cpp - expansion of norms over split dims ---------------===//

#include "passes/4-shard/expand/Expansions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

namespace {
/// The dims over which a norm takes its statistics.
struct NormDims {
  /// All dims of `input` from dim `from` on.
  NormDims(Value input, int64_t from)
      : dims(llvm::to_vector(
            llvm::seq<int64_t>(from, graph::tensorType(input).getRank()))) {
    for (int64_t dim : dims)
      count *= graph::tensorType(input).getDimSize(dim);
  }

  /// Returns Σ value over the dims, a partial sum.
  Value sum(ShardedBuilder &b, Value value) const {
    return b.reduce(graph::ReduceKind::Sum, value, dims);
  }
  /// Returns `sum` divided by the number of elements, padding excluded. A
  /// partial `sum` is reduced for that.
  Value mean(ShardedBuilder &b, Value sum) const {
    return b.make<graph::DivOp>(sum, b.scalarLike(sum, count));
  }

  /// The dims, and the number of elements over all of them.
  SmallVector<int64_t> dims;
  int64_t count = 1;
};
} // namespace

/// Returns value / √(square + epsilon) · scale (+ bias) in element type `type`.
/// `bias` may be null.
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

/// Expands a layer norm with one all-reduce, that of the pair (Σ x, Σ x²):
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
  // Rounding can make the difference negative.
  variance = b.make<graph::MaxOp>(variance, b.scalarLike(variance, 0));
  return {scaled(b, b.make<graph::SubOp>(x, mean), variance,
                 norm.getEpsilon().convertToDouble(), norm.getScale(),
                 norm.getBias(),
                 graph::tensorType(norm.getResult()).getElementType())};
}

/// Expands an RMS norm with one all-reduce, that of Σ x².
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
