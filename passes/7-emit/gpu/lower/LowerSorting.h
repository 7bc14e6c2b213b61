//===- LowerSorting.h - top-k by rank sort --------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Sorts the elements of `value` along the middle dim. Returns the indices of
/// the first `count` elements in sorted order, as i64. `value` has the shape
/// [outer, size, inner]. The result has the shape [outer, count, inner].
/// Example for an ascending order and `count` = 2: the values 8 9 7 give the
/// indices 2 0.
///
/// The order is descending if `largest` is true, else ascending. NaN comes
/// before all numbers in both orders. Equal elements keep their order.
///
/// The algorithm is rank sort (enumeration sort). For each element, it counts
/// the elements that come before this element in sorted order. Sorting n
/// elements takes n² comparisons.
mlir::Value sortedIndices(LoweringBuilder &b, mlir::Value value, bool largest,
                          int64_t count);

/// Replaces each graph.topk of `function` by sortedIndices() and a gather.
/// Returns the number of replaced ops.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
