//===- Convolution.h - convolutions as matmuls (im2col) -------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H

#include "passes/7-emit/gpu/lower/Im2col.h"

namespace pcc::emit {

/// Returns the convolution of `input` with `filters`, computed by im2col
/// (Chellapilla et al. 2006):
///
///   input     [N, G · C, spatial…]    N images, G groups of C channels
///   filters   [G, O, C, taps…]        O filters per group; taps… are the
///                                     spatial dims of a filter
///   dims      one SlidingDim per spatial dim
///   result    [N, G · O, outputs…]
///
/// The returned value has the elements of the result in order, but another
/// shape. The caller must reshape it. In general, the convolution is a matmul
/// batched over images and groups. Two cases differ:
///
///   C = O = 1 (depthwise)      a sum of element-wise products, no matmul
///   G = 1, few outputs,        one matmul over the outputs of all images
///   N > 1
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
