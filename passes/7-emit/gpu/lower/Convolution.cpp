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
  /// Number of outputs per image from which on each image gets a matrix product
  /// of its own. With fewer outputs, one matmul computes all images.
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

  /// Returns the convolution as a matmul of filters and windows of the input,
  /// batched over N images and G groups:
  ///
  ///   filters   [G, O, C · taps]            C channels, O filters per group
  ///   windows   [N, G, C · taps, outputs]   `taps` elements per channel
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

  /// Returns the convolution of all N images as one matmul of filters and
  /// windows of the input:
  ///
  ///   filters   [O, C · taps]             C channels, O filters
  ///   windows   [C · taps, N · outputs]   `taps` elements per channel
  ///
  /// If windows are larger than the result, as for the gradient of filters,
  /// stores the matrix of windows transposed. The kernel that writes it then
  /// reads contiguous input elements.
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

  /// Returns whether, along the innermost dim, a window has more elements than
  /// the result of the convolution.
  bool isTall() const { return dims.back().window > dims.back().output; }

  /// Returns the convolution for one channel and one filter per group
  /// (depthwise): a sum of element-wise products, in one fused kernel. Matmuls
  /// with a single row would be slow.
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
