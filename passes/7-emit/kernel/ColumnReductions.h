//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration (unit of work) of a kernel that reduces columns of
/// a tensor. It reduces a group of `plan.width` neighbouring columns.
/// `iteration` is the index of the group. `outputs` are the pointers to the
/// kernel's results.
///
/// A stack buffer holds one partial result per column. A pass is a loop along
/// the columns, over the inner dims (the dims that are reduced) in ascending
/// order. At each inner index it combines one element of each of the `width`
/// columns with the buffer. These elements are contiguous in memory.
///
/// A reduction that depends on another reduction needs a later pass. A result
/// with one element per column, such as s, is stored after all passes. A result
/// with one element for each element of the columns, such as y, is stored in
/// the first pass after the reductions that it reads:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
