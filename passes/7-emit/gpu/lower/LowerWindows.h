//===- LowerWindows.h - convolutions and pools over im2col columns --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the convolutions, transposed convolutions and pools of `function`
/// by ops that GPUs can run. Returns the number of replaced ops.
///
/// A kernel gathers the windows of the padded input into columns (im2col). A
/// convolution becomes a matmul of filters and columns; see convolve() for
/// exceptions. A pool becomes a reduction over each window.
int64_t lowerWindows(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H
