//===- FusedAttention.h - attention in one kernel -------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Writes `op`, all of a kernel but for layout ops, whose results go to
/// `outputs`. `block` and `thread` are the current ones' numbers.
void writeFusedAttention(KernelWriter &w, graph::AttentionOpInterface op,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

/// The same for each kind of op.
void writeAttention(KernelWriter &w, graph::AttentionOp op,
                    llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                    const Index &thread);
void writeQueryGradient(KernelWriter &w, graph::AttentionQueryGradientOp op,
                        llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                        const Index &thread);
void writeKeyGradient(KernelWriter &w, graph::AttentionKeyGradientOp op,
                      llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                      const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
