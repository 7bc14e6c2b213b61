//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration of a kernel that reduces columns of a tensor. An
/// outer iteration reduces a group of `plan.width` neighbouring columns;
/// `iteration` is the index of the group. `outputs` are the pointers to the
/// kernel's results.
///
/// A stack buffer holds one partial result per column. A pass is a loop along
/// the columns, over the inner dims (the dims that are reduced) in ascending
/// order. At each inner index it combines one element of each of the `width`
/// columns, which are contiguous, with the buffer.
///
/// A reduction that depends on another one needs a later pass. A result that
/// has an element for each element of the columns, such as y, is stored in the
/// first pass after the reductions that it reads:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
