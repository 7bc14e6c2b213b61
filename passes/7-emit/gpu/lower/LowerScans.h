//===- LowerScans.h - prefix sums as reductions ---------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Form of a prefix sum: `exclusive` leaves out the element itself, `reverse`
/// sums from the last element to the first.
struct ScanForm {
  bool exclusive = false, reverse = false;
};

/// Builds the prefix sums along the middle dim of `value`, [outer, size,
/// inner]. The result has the same shape.
///
/// A short dim of n elements costs n² additions: sum i is a reduction over all
/// pairs (i, j) with j ≤ i. A dim of more than 256 elements is cut into about
/// √n blocks. The prefix sums of the blocks' totals are added to those within
/// each block, so that the dim costs about n · √n additions.
mlir::Value runningSum(LoweringBuilder &b, mlir::Value value, ScanForm form);

/// Replaces each graph.cumsum of `function` by the ops of runningSum(). Narrow
/// floats are summed in f32. Returns the number of ops.
int64_t lowerScans(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
