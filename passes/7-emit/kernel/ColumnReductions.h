//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one outer iteration (unit of work) of a kernel that reduces columns of
/// a tensor. It reduces the group of `plan.width` neighbouring columns with
/// index `iteration`. `outputs` are the pointers to the kernel's results.
///
/// The code consists of passes. A pass is a loop along the columns, over the
/// reduced dims. Each iteration reads one element of each column of the group;
/// these elements are contiguous in memory. It combines each element with the
/// column's partial result, which is in a stack buffer.
///
/// A reduction that depends on another reduction needs a later pass:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
///
/// Results with one element per column, such as s, are stored after all passes.
/// A result with an element for each x, such as y, is stored in the first pass
/// after the reductions that it reads.
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
