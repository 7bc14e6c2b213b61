//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration of a kernel that reduces columns (`plan.width` is
/// positive): the next `plan.width` neighbouring columns of the last dim.
/// `outputs` are the pointers to the kernel's results.
///
/// A stack buffer holds one partial result per column. Each pass goes over the
/// inner dims in ascending order and, at each inner index, combines `width`
/// contiguous elements with the buffer.
///
/// A reduction that depends on another one needs a later pass. Results with an
/// element per element are stored in the first pass that has the statistics
/// they read:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
