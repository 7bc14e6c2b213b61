//===- LowerSorting.h - top-k by rank sort --------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Returns the indices (i64) that sort `value`, [outer, size, inner], along its
/// middle dim. Returns only the first `count` of these indices: [outer, count,
/// inner]. The order is descending if `largest` is true, else ascending. NaN
/// comes before all numbers in both orders. Equal elements keep their order.
///
/// The algorithm is rank sort (enumeration sort). The rank of an element is the
/// number of elements that come before it in sorted order. Result r is the
/// index of the element with rank r. Sorting n elements takes n² comparisons.
mlir::Value sortedIndices(LoweringBuilder &b, mlir::Value value, bool largest,
                          int64_t count);

/// Replaces each graph.topk of `function` by the ops of sortedIndices(), and a
/// gather of the elements at these indices. Returns the number of replaced ops.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
