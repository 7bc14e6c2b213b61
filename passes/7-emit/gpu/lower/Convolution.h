//===- Convolution.h - convolutions as products of columns ----------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H

#include "passes/7-emit/gpu/lower/Im2col.h"

namespace pcc::emit {

/// What filters [G, O, C, taps…] make of the windows of `input`, [N, G · C,
/// spatial…]: the elements of [N, G · O, outputs…], in another shape. A filter
/// of one channel and one result per group is multiplied and summed inside a
/// kernel, others are rows of a product, batched over groups and images.
mlir::Value convolve(LoweringBuilder &b, mlir::Value input, mlir::Value filters,
                     llvm::ArrayRef<SlidingDim> dims);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_CONVOLUTION_H
