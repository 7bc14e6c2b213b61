//===- Im2col.h - im2col: windows of a tensor as columns ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Windows along one spatial dim. Tap k of the window of output o reads the
/// input at index
///
///   o · stride + k · dilation − low                   if not reversed
///   o · stride + (window − 1 − k) · dilation − low    if reversed
///
/// Indices outside of the input read padding.
struct SlidingDim {
  /// `output` is the number of windows, `window` the number of taps of a
  /// window, `stride` the distance of windows, `low` the padding in front of
  /// the input, and `dilation` the distance of taps.
  int64_t output, window, stride, low, dilation;
  /// Whether the taps of a window are in reverse order.
  bool reversed = false;

  /// Returns the size of the padded input that the windows cover.
  int64_t reach() const {
    return (output - 1) * stride + (window - 1) * dilation + 1;
  }
  /// Returns whether the windows are the elements of the input, whose size is
  /// `input`: im2col would then be a copy.
  bool isPlain(int64_t input) const {
    return window == 1 && stride == 1 && low == 0 && output == input;
  }
};

/// Gathers the windows of `input` into columns (im2col, Chellapilla et al.
/// 2006):
///
///   input    [N, C, spatial…]
///   result   [N, C, taps…, outputs…]
///
/// `dims` has one entry per spatial dim. `padding` is the value of elements
/// outside of the input. The pass form-kernels fuses the ops into one kernel.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
