//===- Convolution.h - convolutions as matmuls (im2col) -------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H

#include "passes/7-emit/gpu/lower/Im2col.h"

namespace pcc::emit {

/// Returns the convolution of `input` with `filters`, computed by im2col
/// (Chellapilla et al. 2006):
///
///   input     [N, G · C, spatial…]    N images, G groups of C channels
///   filters   [G, O, C, taps…]        O filters per group
///   dims      one SlidingDim per spatial dim
///   result    [N, G · O, outputs…]
///
/// The returned value has the elements of the result in row-major order, but
/// may have another shape, with an equal number of elements. In general, the
/// filters are the left operand of a matmul that is batched over images and
/// groups. Two cases differ:
///
///   C = O = 1 (depthwise)            a kernel multiplies and sums, no matmul
///   G = 1, few outputs, N > 1        one matmul over the outputs of all images
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
