//===- Im2col.h - im2col: windows of a tensor as columns ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Windows of a convolution or pool along one spatial dim. Element k of window
/// o is the input element at o · stride + k · dilation − low. An index outside
/// of the input belongs to the padding. If `reversed` is true, k counts from
/// the end of the window.
struct SlidingDim {
  /// `output` is the number of windows, and `window` is the number of elements
  /// of a window. `stride` is the distance between windows. `low` is the
  /// padding before the input. `dilation` is the distance between elements of a
  /// window.
  int64_t output, window, stride, low, dilation;
  /// Whether a window holds its input elements in reverse order. Example: a
  /// window covers the input elements 4, 5 and 6. If true, its elements are 6 5
  /// 4. If false, they are 4 5 6.
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

/// Returns a copy of each window (im2col, Chellapilla et al. 2006), with the
/// shape [N, C, window dims, output dims]. `input` has the shape
/// [N, C, spatial dims]. Window elements outside of `input` have the value
/// `padding`. All created ops can be fused into one kernel.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
