//===- LowerSorting.h - top-k by rank sort --------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Returns the first `count` indices (i64) that sort `value`, [outer, size,
/// inner], along its middle dim: [outer, count, inner]. The order is descending
/// if `largest` is true, else ascending. NaN comes first in both. Equal
/// elements keep their order.
///
/// The algorithm is rank sort (enumeration sort): it counts the elements that
/// come before each element. Sorting n elements takes n² comparisons.
mlir::Value sortedIndices(LoweringBuilder &b, mlir::Value value, bool largest,
                          int64_t count);

/// Replaces each graph.topk of `function` by sortedIndices() and a gather.
/// Returns the number of replaced ops.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
