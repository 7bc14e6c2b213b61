//===- RowReductions.h - reductions, softmaxes and norms ------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Writes the row of an outer iteration: its statistics, then the results.
void writeRow(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
              llvm::ArrayRef<mlir::Value> outputs, const Index &iteration);

/// How `op` goes over the elements of a row, from `initialValueOf` through `combine`,
/// which takes the value so far first, to `finish`. A sum over columns
/// (RowSpace::isByColumns) has the order of the row; that of another is free.
mlir::Value initialValueOf(KernelWriter &w, graph::ReduceOp op);
mlir::Value combine(KernelWriter &w, graph::ReduceOp op, mlir::Value so,
                    mlir::Value element);
mlir::Value finish(KernelWriter &w, graph::ReduceOp op, mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWREDUCTIONS_H
