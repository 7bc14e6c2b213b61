//===- Convolution.h - convolutions as matmuls (im2col) -------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H

#include "passes/7-emit/gpu/lower/Im2col.h"

namespace pcc::emit {

/// Returns the convolution of `input` with `filters`, computed by im2col
/// (Chellapilla et al. 2006). `dims` has one element per spatial dim:
///
///   input     [N, G · C, spatial…]   N images, G groups of C channels
///   filters   [G, O, C, taps…]       O filters per group
///
/// The spatial dims of the returned value are merged into one dim of P
/// elements. The caller must reshape the value. The returned shape depends on
/// the sizes:
///
///   C = O = 1             [N, G, P]
///   otherwise, if G = 1   [N, O, P]
///   otherwise, if G > 1   [N, G, O, P]
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
