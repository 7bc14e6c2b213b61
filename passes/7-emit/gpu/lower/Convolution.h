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
///   result    [N, G · O, outputs…]
///
/// Here, spatial…, taps… and outputs… stand for one size per spatial dim: the
/// sizes of an image, of a filter and of the result. `dims` has one element per
/// spatial dim, which holds for example the stride along this dim.
///
/// The returned value has all elements of the result in order, but its spatial
/// dims are merged into one dim of P elements. The caller must reshape the
/// value to the shape of the result. The convolution is computed in one of
/// three ways. In this table, the condition on the left selects the way, and
/// the last column is the returned shape:
///
///   C = O = 1 (depthwise)       sum of element-wise products    [N, G, P]
///   G = 1, N > 1 and P < 128    one matmul over all images      [N, O, P]
///   all other cases, G = 1      matmul batched over images      [N, O, P]
///   all other cases, G > 1      matmul batched over images      [N, G, O, P]
///                               and groups
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
