//===- Convolution.h - convolutions as matmuls (im2col) -------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H

#include "passes/7-emit/gpu/lower/Im2col.h"

namespace pcc::emit {

/// Returns the convolution of `input` [N, G · C, spatial dims] with `filters`
/// [G, O, C, filter dims] (im2col, Chellapilla et al. 2006). G is the number of
/// groups. The result has P output positions in one dim:
///
///   C = O = 1             [N, G, P]
///   otherwise, if G = 1   [N, O, P]
///   otherwise             [N, G, O, P]
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
