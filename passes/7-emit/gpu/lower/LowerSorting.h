//===- LowerSorting.h - top-k by rank sort --------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Sorts `value` [outer, size, inner] along the middle dim, in descending order
/// if `largest` is true. Returns the i64 indices [outer, count, inner] of the
/// first `count` elements. The sort is stable, puts NaN first, and takes size²
/// comparisons (rank sort).
mlir::Value sortedIndices(LoweringBuilder &b, mlir::Value value, bool largest,
                          int64_t count);

/// Replaces each graph.topk of `function` by sortedIndices() and a gather.
/// Returns the number of replaced ops.
int64_t lowerSorting(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSORTING_H
