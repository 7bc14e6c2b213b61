//===- LowerSorting.h - sorting by counting -------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Where the first `count` elements along the middle dim of `value`, [outer,
/// size, inner], are when it is sorted: [outer, count, inner]. NaN comes before
/// all numbers, of equals the lower index first.
mlir::Value sortedIndices(LoweringBuilder &b, mlir::Value value, bool largest,
                          int64_t count);

/// Replaces top-k: an element's rank is the number of those that come before
/// it, and result r is the element of rank r. n elements cost n². Returns how
/// many ops there were.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
