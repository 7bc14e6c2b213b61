//===- ColumnReductions.h - reductions of neighboring columns -------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits one unit of work of a kernel that reduces columns of a tensor: the
/// group of `plan.width` neighboring columns with index `iteration`. `outputs`
/// are the pointers to the kernel's results.
///
/// The code consists of passes, which are loops over all elements of the
/// columns. A reduction that depends on another one needs a later pass:
///
///   s = sum x            pass 0
///   t = sum exp(x - s)   pass 1
///   y = x / t            pass 2
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
