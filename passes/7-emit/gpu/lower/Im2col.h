//===- Im2col.h - what windows see ----------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// How a window slides over one spatial dim: output o and tap k read the input
/// at o · stride + k · dilation − low, or, `reversed`, at that of tap
/// window − 1 − k. What lies outside the input is padding.
struct SlidingDim {
  int64_t output, window, stride, low, dilation;
  bool reversed = false;

  /// How many elements of the padded input the windows reach.
  int64_t reach() const {
    return (output - 1) * stride + (window - 1) * dilation + 1;
  }
  /// Whether the windows are the input's elements, one after the other.
  bool isPlain(int64_t input) const {
    return window == 1 && stride == 1 && low == 0 && output == input;
  }
};

/// The elements of `input`, N,C,spatial…, that windows see:
/// [N, C, taps…, outputs…]. Padding holds `padding`.
mlir::Value im2col(LoweringBuilder &b, mlir::Value input,
                   llvm::ArrayRef<SlidingDim> dims, double padding);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_IM2COL_H
