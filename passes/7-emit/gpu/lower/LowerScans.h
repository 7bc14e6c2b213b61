//===- LowerScans.h - running sums as reductions --------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Whether a running sum leaves out the element itself, and whether it runs
/// from the end.
struct ScanForm {
  bool exclusive = false, reverse = false;
};

/// Running sums along the middle dim of `value`, [outer, size, inner].
mlir::Value runningSum(LoweringBuilder &b, mlir::Value value, ScanForm form);

/// Replaces running sums by sums over the elements up to each. Long dims are
/// cut into blocks: running sums of blocks are added to those within them, so
/// that n elements cost about n · √n. Returns how many ops there were.
int64_t lowerScans(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCANS_H
