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

  /// Returns the mean of `value` over the dims in the member `dims`. Ranks
  /// split these dims, so each rank has only a part of the elements. The
  /// function sums the elements of all these ranks, and divides the sum by
  /// `count`, the number of elements in these dims. Padding does not count as
  /// an element.
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

/// Returns value / √(square + epsilon) · scale + bias, converted to the element
/// type `type`. This is the last step of a layer norm or an RMS norm. `scale`
/// and `bias` are weights of the norm, and `bias` may be null. The other
/// parameters for a norm of x are:
///
///   norm         `value`    `square`
///   layer norm   x - mean   variance of x
///   RMS norm     x          mean of x²
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

/// Replaces a layer norm by several simpler ops. Ranks split the dims over
/// which the norm computes the mean and the variance. These dims have n
/// elements together:
///
///   mean = Σ x / n    variance = Σ (x - mean)² / n
///
/// Each rank has only a part of the elements. Two all-reduces therefore add the
/// values of all ranks: one for Σ x, and one for Σ (x - mean)². One all-reduce
/// of Σ x and Σ x² would be enough, but the variance would be inaccurate if the
/// mean is large.
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
