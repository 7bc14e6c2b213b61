//===- FusedAttention.h - FlashAttention as one GPU kernel ----------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the body of the GPU kernel of `op`: attention, or a gradient of
/// attention. `outputs` are pointers to the results. `block` is an index below
/// AttentionPlan::blocks(), and `thread` is an index in the block. Strided
/// reads and writes replace transposes and reshapes around `op`.
void writeFusedAttention(KernelWriter &w, graph::AttentionOpInterface op,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

/// Emits the body of a kernel that computes graph.attention. `op` is the
/// graph.attention op.
///
///   outputs   pointers to the kernel's results
///   block     index of the current block, below AttentionPlan::blocks()
///   thread    index of the current thread in its block
void writeAttention(KernelWriter &w, graph::AttentionOp op,
                    llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                    const Index &thread);
/// Emits the body of the kernel for the gradient of the queries. Also computes
/// three numbers per query for writeKeyGradient(): the largest score `top`,
/// `share` = 1 / Σ exp(score − top), and `mean` = Σ P · dP. P is the softmax
/// weight of a key, and dP is its gradient.
void writeQueryGradient(KernelWriter &w, graph::AttentionQueryGradientOp op,
                        llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                        const Index &thread);
/// Emits the body of a kernel that computes `op`, a
/// graph.attention_key_gradient: the gradients of keys and values.
///
///   outputs   pointers to the kernel's results
///   block     index of the current block, below AttentionPlan::blocks()
///   thread    index of the current thread in its block
void writeKeyGradient(KernelWriter &w, graph::AttentionKeyGradientOp op,
                      llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                      const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
