//===- Im2col.h - im2col: windows of a tensor as columns ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Windows of a convolution or pool along one spatial dim. A tap is an element
/// of a window. Tap k of window o is the input element at the index
///
///   o · stride + k · dilation − low
///
/// An index outside of the input belongs to the padding. If `reversed` is true,
/// `window` − 1 − k replaces k in the formula. Example: `stride` is 2,
/// `dilation` is 1, `low` is 1 and `window` is 3. The taps of window 1 are the
/// input elements 1, 2 and 3, or 3, 2 and 1 if `reversed` is true.
struct SlidingDim {
  /// Sizes along one spatial dim, in elements. A tap is an element of a window:
  ///
  ///   output     number of windows
  ///   window     number of taps of a window
  ///   stride     distance between neighboring windows
  ///   low        padding before the input
  ///   dilation   distance between neighboring taps
  int64_t output, window, stride, low, dilation;
  /// Whether a window holds its input elements in reverse order. Example: a
  /// window on the input elements 4, 5 and 6 holds them in the order 4 5 6 if
  /// false, and 6 5 4 if true.
  bool reversed = false;

  /// Returns the number of elements from the start of the first window to the
  /// end of the last one, padding included.
  int64_t reach() const {
    return (output - 1) * stride + (window - 1) * dilation + 1;
  }
  /// Returns whether window i contains input element i and no other element,
  /// and there is one such window for each input element. `input` is the number
  /// of input elements along the dim. In this case, a copy of the windows would
  /// be equal to the input.
  bool isPlain(int64_t input) const {
    return window == 1 && stride == 1 && low == 0 && output == input;
  }
};

/// Returns a copy of each window (im2col, Chellapilla et al. 2006):
///
///   input    [N, C, spatial…]           N images, C channels
///   result   [N, C, taps…, outputs…]    one copy of each window
///
/// Example: an input [1, 3, 8, 8] has 6 x 6 windows of 3 x 3 elements. The
/// result has the shape [1, 3, 3, 3, 6, 6]. `dims` describes the windows along
/// each spatial dim. Window elements outside of the input have the value
/// `padding`. All ops that im2col() creates can be fused into one kernel.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
