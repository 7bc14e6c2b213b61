//===- WindowWalk.h - input elements that sliding windows read ------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
#define PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H

#include "dialects/graph/reference/Strides.h"

namespace pcc::graph {

/// Windows of a convolution or pool over the spatial dims of one channel. Along
/// each dim, window element (tap) k of output o reads input element o * stride
/// + k * dilation - low. A tap outside the input reads padding.
struct WindowWalk {
  /// Sizes of the input, the output and the window; strides; padding before the
  /// input (`low`); dilations. Each list has one entry per spatial dim, in
  /// elements.
  llvm::SmallVector<int64_t> input, output, window, strides, low, dilations;

  /// Returns the number of input elements of one channel.
  int64_t numInputs() const { return mlir::ShapedType::getNumElements(input); }
  /// Returns the number of output elements of one channel.
  int64_t numOutputs() const {
    return mlir::ShapedType::getNumElements(output);
  }
  /// Returns the number of elements (taps) of one window, over all spatial
  /// dims.
  int64_t numTaps() const { return mlir::ShapedType::getNumElements(window); }

  /// Returns the indices of the window element (tap) with row-major index
  /// `tap`, one per spatial dim.
  llvm::SmallVector<int64_t> tapIndices(int64_t tap) const {
    llvm::SmallVector<int64_t> indices(window.size());
    for (size_t dim = window.size(); dim-- > 0; tap /= window[dim])
      indices[dim] = tap % window[dim];
    return indices;
  }

  /// Returns the input index along `dim` that output 0 reads with its window
  /// element (tap) `tapIndex`. For padding 1 and dilation 1, tap 0 reads index
  /// -1. A negative index is in the padding.
  int64_t shift(size_t dim, int64_t tapIndex) const {
    return tapIndex * dilations[dim] - low[dim];
  }

  /// Returns the range [begin, end) of output indices along `dim` for which the
  /// window element (tap) `tapIndex` lies in the input, not in the padding. For
  /// input [4], 3 taps, stride 1 and padding 1, the range of tap 0 is [1, 4).
  std::pair<int64_t, int64_t> inside(size_t dim, int64_t tapIndex) const {
    int64_t first = -shift(dim, tapIndex), stride = strides[dim];
    auto ceilDiv = [&](int64_t x) {
      return x <= 0 ? 0 : (x + stride - 1) / stride;
    };
    int64_t end = std::min(output[dim], ceilDiv(first + input[dim]));
    return {std::min(end, ceilDiv(first)), end};
  }

  /// Visits the outputs that read the input, not padding, with the window
  /// element `tap`. Their index along spatial dim 0 is in [begin, end). Calls
  /// visit(out, in, count) for runs along the last dim: output `out + i` reads
  /// the input element `in + i * strides.back()`.
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

  /// Visits all outputs whose window element (tap) `tap` lies in the input, not
  /// in the padding. Calls `visit(out, in, count)` for each run of `count`
  /// outputs along the last dim. Output `out` is the first output of the run,
  /// and reads the input element `in` with the tap. Both indices are row-major
  /// within one channel. For the input [4], 3 taps, stride 1 and padding 1, the
  /// only call for tap 0 is visit(1, 0, 3).
  template <typename Visit> void forEachRow(int64_t tap, Visit visit) const {
    forEachRow(tap, 0, output.front(), visit);
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
