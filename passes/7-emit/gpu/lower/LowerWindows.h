//===- LowerWindows.h - convolutions and pools as products ----------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces convolutions by products of filters and columns, one column per
/// place of the window, and pools by reductions over columns. A kernel gathers
/// columns out of the padded input. Filters of one channel are multiplied and
/// summed inside the kernel. Returns how many ops there were.
int64_t lowerWindows(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERWINDOWS_H
