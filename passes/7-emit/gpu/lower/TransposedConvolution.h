//===- TransposedConvolution.h - transposed convolutions as matmuls -------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Builds the result of the transposed convolution `op` by matmuls. The
/// returned value has the elements of the result in row-major order, but may
/// have another shape, with an equal number of elements. Does not replace `op`.
mlir::Value convolveTransposed(LoweringBuilder &b, graph::ConvTransposeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
