//===- ColumnReductions.h - reductions of neighboring columns -------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the code for group number `iteration` of `plan.width` neighboring
/// columns. `outputs` are the pointers to the kernel's results. A reduction
/// that depends on another one needs another loop over all elements, as in sum
/// exp(x − max x).
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
