//===- TransposedConvolution.h - windows that write -----------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// The elements of the op's result, in another shape, by products.
mlir::Value convolveTransposed(LoweringBuilder &b, graph::ConvTransposeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_TRANSPOSEDCONVOLUTION_H
