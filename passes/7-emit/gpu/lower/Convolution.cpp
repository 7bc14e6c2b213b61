//===- Convolution.cpp - convolutions as matmuls (im2col) -----------------===//

#include "passes/7-emit/gpu/lower/Convolution.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// Builds the ops of one convolution. See convolve() for the shapes of `input`
/// and `filters`.
class Convolution {
public:
  /// Limit of the number of windows per image. A window is the part of an image
  /// that is multiplied with a filter to compute one element of the result. The
  /// limit selects one of two ways to compute a convolution with one group:
  ///
  ///   fewer than 128 windows    one matrix product for all images
  ///   128 windows or more       one matrix product per image
  static constexpr int64_t fewOutputs = 128;

  Convolution(LoweringBuilder &b, Value input, Value filters,
              ArrayRef<SlidingDim> dims)
      : b(b), input(input), filters(filters), dims(dims),
        batch(shapeOf(input)[0]), groups(shapeOf(filters)[0]),
        numFilters(shapeOf(filters)[1]), channels(shapeOf(filters)[2]),
        taps(ShapedType::getNumElements(shapeOf(filters).drop_front(3))) {
    for (const SlidingDim &dim : dims)
      outputs *= dim.output;
  }

  Value build() {
    if (channels == 1 && numFilters == 1)
      return multiplied();
    if (groups == 1 && batch > 1 && outputs < fewOutputs)
      return productOfAll();
    return productOfEach();
  }

private:
  using Dims = SmallVector<int64_t>;

  /// Returns the windows of the input as columns (im2col). Returns the input
  /// itself if im2col would only copy it, as for a 1 x 1 convolution.
  Value columns() {
    bool isPlain = true;
    for (auto [dim, size] : llvm::zip_equal(dims, shapeOf(input).drop_front(2)))
      isPlain &= dim.isPlain(size);
    return isPlain ? input : im2col(b, input, dims, 0);
  }

  /// Returns the convolution as one matrix product per image (N) and group (G):
  /// [G, O, C · taps] · [N, G, C · taps, outputs] = [N, G, O, outputs]. A group
  /// has C channels and O filters. If G is 1, the shapes have no dim G.
  Value productOfEach() {
    const int64_t depth = channels * taps;
    SmallVector<int64_t> rows{groups, numFilters, depth},
        right{batch, groups, depth, outputs};
    if (groups == 1) {
      rows.erase(rows.begin());
      right.erase(right.begin() + 1);
    }
    return b.make<MatmulOp>(b.reshape(filters, rows),
                            b.reshape(columns(), right), false, false);
  }

  /// Returns the convolution of N images with O filters as one matrix product:
  /// [O, C · taps] · [C · taps, N · outputs]. If isTall() is true, the right
  /// matrix is stored transposed. Its rows then have longer runs of input
  /// elements, which a kernel copies faster.
  Value productOfAll() {
    const int64_t depth = channels * taps;
    Value seen = b.reshape(columns(), {batch, depth, outputs});
    Value right = b.reshape(
        b.transpose(seen, isTall() ? Dims{0, 2, 1} : Dims{1, 0, 2}),
        isTall() ? Dims{batch * outputs, depth} : Dims{depth, batch * outputs});
    Value all = b.make<MatmulOp>(b.reshape(filters, {numFilters, depth}), right,
                                 /*transpose_lhs=*/false,
                                 /*transpose_rhs=*/isTall());
    return b.transpose(b.reshape(all, {numFilters, batch, outputs}), {1, 0, 2});
  }

  /// Returns whether a window has more elements than the result of the
  /// convolution, both counted along the innermost spatial dim. productOfAll()
  /// then stores the matrix of windows transposed.
  bool isTall() const { return dims.back().window > dims.back().output; }

  /// Returns the result of a depthwise convolution, with one channel and one
  /// filter per group. The created ops can be fused into one kernel. Matmuls
  /// would be slower, because each left matrix would have only one row.
  Value multiplied() {
    Type element = tensorType(input).getElementType();
    Value seen = b.reshape(columns(), {batch, groups, taps, outputs});
    Value terms = b.make<MulOp>(
        b.cast(seen, sumType(element)),
        b.cast(b.reshape(filters, {groups, taps, 1}), sumType(element)));
    return b.cast(b.reduce(ReduceKind::Sum, terms, {2}), element);
  }

  LoweringBuilder &b;
  Value input, filters;
  ArrayRef<SlidingDim> dims;
  int64_t batch, groups, numFilters, channels, taps, outputs = 1;
};
} // namespace

Value pcc::emit::convolve(LoweringBuilder &b, Value input, Value filters,
                          ArrayRef<SlidingDim> dims) {
  return Convolution(b, input, filters, dims).build();
}
