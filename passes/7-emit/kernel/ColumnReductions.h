//===- ColumnReductions.h - reductions of neighboring columns -------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the code that reduces `plan.width` neighboring columns. The columns of
/// a kernel are divided into groups of this width, and `iteration` is the
/// number of the group. `outputs` are the pointers to the kernel's results. If
/// a reduction depends on another one, as in sum exp(x − max x), the code has
/// one more loop over all elements.
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
