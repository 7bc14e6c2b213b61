//===- WindowWalk.h - input elements that sliding windows read ------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
#define PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H

#include "dialects/graph/reference/Strides.h"

namespace pcc::graph {

/// Sizes and windows of a convolution or pool over the spatial dims of one
/// channel. Along each dim, the window element (tap) k of output o reads the
/// input element
///   o * stride + k * dilation - low
/// where `low` is the padding before the input. If there is no such element in
/// the input, the tap reads padding.
struct WindowWalk {
  /// Per spatial dim: size of the input, the output and the window (in taps),
  /// stride, low padding and dilation.
  llvm::SmallVector<int64_t> input, output, window, strides, low, dilations;

  /// Returns the number of input elements of one channel.
  int64_t numInputs() const { return mlir::ShapedType::getNumElements(input); }
  /// Returns the number of output elements of one channel.
  int64_t numOutputs() const {
    return mlir::ShapedType::getNumElements(output);
  }
  /// Returns the number of taps (elements) of a window, over all spatial dims.
  int64_t numTaps() const { return mlir::ShapedType::getNumElements(window); }

  /// Returns the index along each spatial dim of the tap with the row-major
  /// index `tap` in the window.
  llvm::SmallVector<int64_t> tapIndices(int64_t tap) const {
    llvm::SmallVector<int64_t> indices(window.size());
    for (size_t dim = window.size(); dim-- > 0; tap /= window[dim])
      indices[dim] = tap % window[dim];
    return indices;
  }

  /// Returns the index along `dim` of the input element that output 0 reads
  /// with tap `tapIndex`. The index is negative if that element is low padding.
  int64_t shift(size_t dim, int64_t tapIndex) const {
    return tapIndex * dilations[dim] - low[dim];
  }

  /// Returns the range [begin, end) of the outputs along `dim` that read an
  /// input element, rather than padding, with tap `tapIndex`. The range may be
  /// empty.
  std::pair<int64_t, int64_t> inside(size_t dim, int64_t tapIndex) const {
    int64_t first = -shift(dim, tapIndex), stride = strides[dim];
    auto ceilDiv = [&](int64_t x) {
      return x <= 0 ? 0 : (x + stride - 1) / stride;
    };
    int64_t end = std::min(output[dim], ceilDiv(first + input[dim]));
    return {std::min(end, ceilDiv(first)), end};
  }

  /// Calls `visit(out, in, count)` for each row of outputs along the last dim,
  /// for the tap with row-major index `tap` in the window. Output out + i reads
  /// input in + i * strides.back() with that tap, for i < count; both are
  /// row-major indices in one channel. Outputs for which the tap reads padding
  /// are skipped. Outputs whose index along dim 0 is outside [begin, end) are
  /// skipped, too.
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

  /// Calls `visit` as the function above does, for the outputs of all rows.
  template <typename Visit> void forEachRow(int64_t tap, Visit visit) const {
    forEachRow(tap, 0, output.front(), visit);
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
