//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration of a kernel that reduces columns of a tensor: the
/// reductions of the group of `plan.width` neighbouring columns that has the
/// number `iteration`. `outputs` are the pointers to the kernel's results.
///
/// A stack buffer holds one partial result per column. A pass goes over the
/// inner dims, along which the columns run, in ascending order. At each inner
/// index it combines `width` contiguous elements with the buffer.
///
/// A reduction that depends on another one needs a later pass. A result with
/// one element per element of the columns is stored in the first pass after the
/// reductions that it reads:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
