//===- ColumnReductions.h - reductions of neighbouring columns ------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Writes one outer iteration of a kernel whose rows are columns: `plan.width`
/// neighbours of the last dim, whose values so far are kept side by side, so
/// that memory is read as it lies. Each column is reduced in order. The rows
/// are passed over as often as reductions depend on each other, and once more
/// if results of all elements depend on the last.
void writeColumns(KernelWriter &w, rank::KernelOp kernel,
                  const KernelPlan &plan, llvm::ArrayRef<mlir::Value> outputs,
                  const Index &iteration);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_COLUMNREDUCTIONS_H
