//===- Im2col.h - im2col: windows of a tensor as columns ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Sliding windows along one spatial dim of a convolution or pool. Each output
/// element along this dim has one window of the input. A tap is one element of
/// a window. Tap k of the window of output o reads the input at index
///
///   o · stride + k · dilation − low                   if not reversed
///   o · stride + (window − 1 − k) · dilation − low    if reversed
///
/// Indices outside of the input read padding.
struct SlidingDim {
  /// `output` is the number of windows, and `window` the number of taps
  /// (elements) of a window. `stride` is the distance between neighboring
  /// windows, and `dilation` that between neighboring taps. `low` is the
  /// number of padding elements before the input.
  int64_t output, window, stride, low, dilation;
  /// Whether the taps of a window read the input in reverse order.
  bool reversed = false;

  /// Returns the number of elements, padding included, from the first tap of
  /// the first window to the last tap of the last window.
  int64_t reach() const {
    return (output - 1) * stride + (window - 1) * dilation + 1;
  }
  /// Returns whether each window i is the single element i of the input, which
  /// has `input` elements along this dim. If so, im2col() would only copy the
  /// input.
  bool isPlain(int64_t input) const {
    return window == 1 && stride == 1 && low == 0 && output == input;
  }
};

/// Returns the windows of `input` as columns of a matrix (im2col, Chellapilla
/// et al. 2006). The dims `taps` index the elements of a window, and the dims
/// `outputs` the windows:
///
///   input    [N, C, spatial…]
///   result   [N, C, taps…, outputs…]
///
/// `dims` describes the windows along each spatial dim. Elements outside of the
/// input have the value `padding`. The pass form-kernels fuses the new ops into
/// one kernel.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
