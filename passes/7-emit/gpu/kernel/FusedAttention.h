//===- FusedAttention.h - FlashAttention as one GPU kernel ----------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the body of a kernel with the attention op `op` and layout ops
/// (transposes, slices, reshapes) of its operands and results. The layout ops
/// become strides of the kernel's reads and writes. `outputs` are the pointers
/// to the kernel's results. `block` is the index of the current block, less
/// than AttentionPlan::blocks(). `thread` is the index of the current thread in
/// its block.
void writeFusedAttention(KernelWriter &w, graph::AttentionOpInterface op,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

/// Emits the body of a kernel that computes graph.attention. `outputs` are the
/// pointers to the kernel's results. `block` is the index of the current block,
/// `thread` that of the current thread in its block.
void writeAttention(KernelWriter &w, graph::AttentionOp op,
                    llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                    const Index &thread);
/// Emits the body of a kernel that computes graph.attention_query_gradient: the
/// gradient of the queries, and three numbers per query that
/// graph.attention_key_gradient reads. `outputs` are the pointers to the
/// kernel's results. `block` is the index of the current block, `thread` that
/// of the current thread in its block.
void writeQueryGradient(KernelWriter &w, graph::AttentionQueryGradientOp op,
                        llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                        const Index &thread);
/// Emits the body of a kernel that computes graph.attention_key_gradient: the
/// gradients of keys and values. `outputs` are the pointers to the kernel's
/// results. `block` is the index of the current block, `thread` that of the
/// current thread in its block.
void writeKeyGradient(KernelWriter &w, graph::AttentionKeyGradientOp op,
                      llvm::ArrayRef<mlir::Value> outputs, const Index &block,
                      const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
