//===- WindowWalk.h - input elements that sliding windows read ------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
#define PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H

#include "dialects/graph/reference/Strides.h"

namespace pcc::graph {

/// Windows of a convolution or pool over the spatial dims of one channel. Along
/// each dim, window element (tap) k of output o reads the input element with
/// this index:
///
///   o * stride + k * dilation - low
///
/// The padding before the input is `low`. A tap outside the input reads
/// padding.
struct WindowWalk {
  /// Lists with one entry per spatial dim:
  ///
  ///   input      size of the dim of the input
  ///   output     size of the dim of the output
  ///   window     number of window elements
  ///   strides    number of input elements from one window to the next window
  ///   low        number of padding elements before the input
  ///   dilations  number of input elements from one window element to the next
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

  /// Visits outputs together with the input elements that they read. Each
  /// output has one window. Each element of the window reads one input element,
  /// or reads padding. `tap` is the number of one element of the window: its
  /// row-major index in the window. The function looks only at this element of
  /// each window. It visits the outputs that meet both conditions:
  ///
  /// - Element `tap` of the window reads an input element, not padding.
  /// - The index of the output along spatial dim 0 is in [begin, end).
  ///
  /// A row is a run of these outputs along the last dim. Calls `visit(out, in,
  /// count)` for each row:
  ///
  ///   out    row-major index of the first output of the row
  ///   in     row-major index of the input element that element `tap` of the
  ///          window of this output reads
  ///   count  number of outputs in the row
  ///
  /// Both indices count the elements of one channel. Output out + i of the row
  /// reads the input element in + i * stride, where `stride` is the stride
  /// along the last dim.
  ///
  /// Example: the input is [4], the window has 3 elements, the stride is 1, and
  /// the padding is 1 at both ends. Element 0 of the window of output 0 reads
  /// padding. Element 0 of the windows of the outputs 1, 2 and 3 reads the
  /// input elements 0, 1 and 2. If `tap` is 0, `begin` is 0 and `end` is 4, the
  /// only call is visit(1, 0, 3). If `end` is 3, output 3 is not visited, and
  /// the only call is visit(1, 0, 2).
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

  /// Visits the outputs for which the window element `tap` lies in the input,
  /// not in the padding. A row is a run of these outputs along the last dim.
  /// Calls `visit(out, in, count)` for each row:
  ///
  ///   out    row-major index of the first output of the row
  ///   in     row-major index of the input element that the first output of the
  ///          row reads with the window element
  ///   count  number of outputs in the row
  ///
  /// Both indices count the elements of one channel.
  ///
  /// Example: the input is [4], the window has 3 elements, the stride is 1, and
  /// the padding is 1 at both ends. With window element 0, the outputs 1, 2 and
  /// 3 read the input elements 0, 1 and 2. For `tap` 0, the only call is
  /// visit(1, 0, 3).
  template <typename Visit> void forEachRow(int64_t tap, Visit visit) const {
    forEachRow(tap, 0, output.front(), visit);
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_WINDOWWALK_H
