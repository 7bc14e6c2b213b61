//===- Im2col.h - im2col: windows of a tensor as columns ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Sliding windows along one spatial dim of a convolution or pool. Each output
/// has one window, whose elements are called taps. Tap k of the window of
/// output o reads the input at index
///
///   o · stride + k · dilation − low                   if not reversed
///   o · stride + (window − 1 − k) · dilation − low    if reversed
///
/// Indices outside of the input read padding.
struct SlidingDim {
  /// Sizes along one spatial dim, in elements. A tap is an element of a window:
  ///
  ///   output     number of windows
  ///   window     number of taps of a window
  ///   stride     distance between neighboring windows
  ///   low        padding before the input
  ///   dilation   distance between neighboring taps
  int64_t output, window, stride, low, dilation;
  /// Whether the elements of a window read the input in reverse order.
  bool reversed = false;

  /// Returns the number of elements from the start of the first window to the
  /// end of the last one, padding included.
  int64_t reach() const {
    return (output - 1) * stride + (window - 1) * dilation + 1;
  }
  /// Returns whether window i consists only of input element i, for all `input`
  /// elements along the dim. im2col() would then only copy the input.
  bool isPlain(int64_t input) const {
    return window == 1 && stride == 1 && low == 0 && output == input;
  }
};

/// Returns the windows of `input` as columns of a matrix (im2col, Chellapilla
/// et al. 2006). The dims `taps` index the elements of a window:
///
///   input    [N, C, spatial…]
///   result   [N, C, taps…, outputs…]
///
/// `dims` describes the windows along each spatial dim. Elements outside of the
/// input have the value `padding`. All new ops can be fused into one kernel.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
