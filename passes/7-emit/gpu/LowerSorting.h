//===- LowerSorting.h - sorting by counting -------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWERSORTING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces top-k: an element's rank is the number of those that come before
/// it, and result r is the element of rank r. n elements cost n². Returns how
/// many ops there were.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWERSORTING_H
