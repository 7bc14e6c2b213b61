//===- Convolution.cpp - convolutions as products of columns --------------===//

#include "passes/7-emit/gpu/lower/Convolution.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
class Convolution {
public:
  /// Fewer outputs than this, of several images, become one product's columns.
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

  Value columns() {
    bool isPlain = true;
    for (auto [dim, size] : llvm::zip_equal(dims, shapeOf(input).drop_front(2)))
      isPlain &= dim.isPlain(size);
    return isPlain ? input : im2col(b, input, dims, 0);
  }

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

  /// Windows larger than the result, as those of a filter's gradient, are
  /// read row by row.
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

  bool isTall() const { return dims.back().window > dims.back().output; }

  /// Products of one column are no work for a library.
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
