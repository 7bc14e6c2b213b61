//===- TransposedConvolution.h - transposed convolutions as matmuls -------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Creates the ops that compute the transposed convolution `op`, and returns
/// their result. Does not replace `op`. The caller must reshape the returned
/// value to the shape of the result of `op`.
mlir::Value convolveTransposed(LoweringBuilder &b, graph::ConvTransposeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
