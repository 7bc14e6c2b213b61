//===- WindowWalk.h - input elements that sliding windows read ------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
#define PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H

#include "dialects/graph/reference/Strides.h"

namespace pcc::graph {

/// Shape of the windows of a convolution or pool over the spatial dims of one
/// channel. Along each dim, window element (tap) k of output o reads the input
/// element with index
///   o * stride + k * dilation - low
/// where `low` is the padding before the input. If the input has no such index,
/// the tap reads padding.
struct WindowWalk {
  /// Lists with one entry per spatial dim: sizes of the input, of the output
  /// and of the window; strides; padding before the input; dilations. All are
  /// in elements.
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

  /// Returns the index, along each spatial dim, of the window element (tap)
  /// whose row-major index in the window is `tap`.
  llvm::SmallVector<int64_t> tapIndices(int64_t tap) const {
    llvm::SmallVector<int64_t> indices(window.size());
    for (size_t dim = window.size(); dim-- > 0; tap /= window[dim])
      indices[dim] = tap % window[dim];
    return indices;
  }

  /// Returns the index, along `dim`, of the input element that a window element
  /// (tap) of output 0 reads. `tapIndex` is the index of the tap along `dim`. A
  /// negative result means that output 0 reads padding.
  int64_t shift(size_t dim, int64_t tapIndex) const {
    return tapIndex * dilations[dim] - low[dim];
  }

  /// Returns the range [begin, end) of the outputs along `dim` for which a
  /// window element (tap) reads the input and not padding. `tapIndex` is the
  /// index of the tap along `dim`. The range may be empty.
  std::pair<int64_t, int64_t> inside(size_t dim, int64_t tapIndex) const {
    int64_t first = -shift(dim, tapIndex), stride = strides[dim];
    auto ceilDiv = [&](int64_t x) {
      return x <= 0 ? 0 : (x + stride - 1) / stride;
    };
    int64_t end = std::min(output[dim], ceilDiv(first + input[dim]));
    return {std::min(end, ceilDiv(first)), end};
  }

  /// Calls `visit(out, in, count)` for each row of `count` outputs along the
  /// last dim for which window element `tap` reads the input and not padding.
  /// `out` is the index of the first output, and `in` that of the input element
  /// which this output reads. All indices are row-major, in one channel. Output
  /// out + i reads input in + i * strides.back().
  ///   input [4], 3 taps, stride 1, padding 1, tap 0:  visit(1, 0, 3)
  /// Skips outputs whose index along spatial dim 0 is outside [begin, end).
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

  /// Calls `visit(out, in, count)` for each row of `count` outputs along the
  /// last dim for which window element `tap` reads the input and not padding.
  /// `out` is the index of the first output, and `in` that of the input element
  /// which this output reads. All indices are row-major.
  template <typename Visit> void forEachRow(int64_t tap, Visit visit) const {
    forEachRow(tap, 0, output.front(), visit);
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
