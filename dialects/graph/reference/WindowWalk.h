//===- WindowWalk.h - rows of sliding windows -----------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
#define PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H

#include "dialects/graph/reference/Strides.h"

namespace pcc::graph {

/// How windows slide over spatial dims: output o and tap k of a dim read input
/// o * stride + k * dilation - low.
struct WindowWalk {
  llvm::SmallVector<int64_t> input, output, window, strides, low, dilations;

  int64_t numInputs() const { return mlir::ShapedType::getNumElements(input); }
  int64_t numOutputs() const {
    return mlir::ShapedType::getNumElements(output);
  }
  int64_t numTaps() const { return mlir::ShapedType::getNumElements(window); }

  /// The indices of tap number `tap`, in row-major order.
  llvm::SmallVector<int64_t> tapIndices(int64_t tap) const {
    llvm::SmallVector<int64_t> indices(window.size());
    for (size_t dim = window.size(); dim-- > 0; tap /= window[dim])
      indices[dim] = tap % window[dim];
    return indices;
  }

  /// What input a tap reads for output 0 of `dim`.
  int64_t shift(size_t dim, int64_t tapIndex) const {
    return tapIndex * dilations[dim] - low[dim];
  }

  /// The outputs [begin, end) of `dim` whose tap lies inside the input.
  std::pair<int64_t, int64_t> inside(size_t dim, int64_t tapIndex) const {
    int64_t first = -shift(dim, tapIndex), stride = strides[dim];
    auto ceilDiv = [&](int64_t x) {
      return x <= 0 ? 0 : (x + stride - 1) / stride;
    };
    int64_t end = std::min(output[dim], ceilDiv(first + input[dim]));
    return {std::min(end, ceilDiv(first)), end};
  }

  /// For tap number `tap` calls `visit(out, in, count)` per row of the last
  /// dim, for outputs of dim 0 in [begin, end): output out + i meets input
  /// in + i * strides.back() for i < count. Taps in the padding are left out.
  template <typename Visit>
  void forEachRow(int64_t tap, int64_t begin, int64_t end, Visit visit) const {
    llvm::SmallVector<int64_t> taps = tapIndices(tap), shape;
    Strides outStrides = rowMajor(output), inStrides = rowMajor(input);
    int64_t outOffset = 0, inOffset = 0;
    for (size_t dim = 0; dim < window.size(); ++dim) {
      auto [first, last] = inside(dim, taps[dim]);
      if (dim == 0)
        first = std::max(first, begin), last = std::min(last, end);
      if (first >= last)
        return;
      shape.push_back(last - first);
      outOffset += first * outStrides[dim];
      inOffset +=
          (first * strides[dim] + shift(dim, taps[dim])) * inStrides[dim];
      inStrides[dim] *= strides[dim];
    }
    int64_t count = shape.pop_back_val();
    outStrides.pop_back();
    inStrides.pop_back();
    graph::forEachRow<2>(shape, {outStrides, inStrides},
                         [&](auto at, int64_t rows, auto step) {
                           for (int64_t i = 0; i < rows; ++i)
                             visit(outOffset + at[0] + i * step[0],
                                   inOffset + at[1] + i * step[1], count);
                         });
  }

  template <typename Visit> void forEachRow(int64_t tap, Visit visit) const {
    forEachRow(tap, 0, output.front(), visit);
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
