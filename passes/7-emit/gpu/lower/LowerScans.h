//===- LowerScans.h - prefix sums as reductions ---------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Options of a prefix sum:
///
///   exclusive   sum i leaves out element i
///   reverse     each sum starts at the last element of the dim
struct ScanForm {
  bool exclusive = false, reverse = false;
};

/// Returns the prefix sums along the middle dim of `value`, [outer, size,
/// inner], in the same shape.
///
/// A dim of n ≤ 256 elements takes n² additions: each sum is a reduction over
/// all n elements. A larger dim is cut into blocks of about √n elements, and
/// takes about n · √n additions.
mlir::Value runningSum(LoweringBuilder &b, mlir::Value value, ScanForm form);

/// Replaces each graph.cumsum of `function` by the ops of runningSum(). Sums of
/// bf16 and f16 are computed in f32. Returns the number of replaced ops.
int64_t lowerScans(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
