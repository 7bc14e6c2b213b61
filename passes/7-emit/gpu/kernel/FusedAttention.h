//===- FusedAttention.h - FlashAttention as one GPU kernel ----------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_FUSEDATTENTION_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the body of the GPU kernel that computes `op`: attention, the gradient
/// of the queries, or the gradients of the keys and values. The kernel also
/// replaces transposes, slices and reshapes of operands, and transposes and
/// reshapes of results: it reads and writes tensors with strides instead.
///
///   w         emits the code
///   outputs   pointers to the kernel's results
///   block     index of the current block, below AttentionPlan::blocks()
///   thread    index of the current thread in its block
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
/// Emits the body of a kernel that computes the gradient of the queries. For
/// each query, the kernel also computes three numbers that the kernel for the
/// gradient of keys and values reads. `outputs`, `block` and `thread` are those
/// of writeAttention().
///
///   top     largest attention score of the query
///   share   1 / Σ exp(score − top) over all keys
///   mean    Σ P · dP over all keys, where P is the softmax weight of a key and
///           dP is the gradient of P
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
