//===- Signature.h - arguments of a kernel's function ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Returns the argument types of the LLVM function that computes `kernel`. The
/// function has these arguments, in this order:
///
///   - one pointer per operand of the kernel
///   - one pointer per result of the kernel
///   - i64 numbers, which tell where the shard of the rank begins
///
/// Most kernels have no i64 arguments. A kernel has i64 arguments only if it
/// contains a dist.global_index op. This op computes, for each element of the
/// rank's shard, the index of the element in the whole tensor along one dim. If
/// the dim is split over ranks, the op needs the index at which the shard
/// begins. Example: if a dim of 64 elements is split over two ranks, the i64 is
/// 0 on the first rank and 32 on the second rank.
///
/// The size of a dim can be written as a product of factors, such as
/// 192 = 3 · 64, and each factor can be split over ranks. The kernel then has
/// one i64 for each split factor: the index along the factor at which the shard
/// begins.
///
/// `kernel` must not be a multi-tensor kernel. One launch of a multi-tensor
/// kernel updates many tensors, as a multi-tensor optimizer of NVIDIA Apex
/// does. A multi-tensor kernel has the attribute `in_parts`.
llvm::SmallVector<mlir::Type> signatureOf(rank::KernelOp kernel);

/// Returns those arguments of `kernel` that are numbers, such as a learning
/// rate. `kernel` must be a multi-tensor kernel (attribute `in_parts`). One
/// launch of a multi-tensor kernel updates many tensors, as a multi-tensor
/// optimizer of NVIDIA Apex does. All tensors use the same numbers. The numbers
/// come before all other arguments of `kernel`. Example: if the arguments are a
/// learning rate, a weight and a gradient, the result is the learning rate.
mlir::ValueRange sharedArgumentsOf(rank::KernelOp kernel);
/// Returns the number of tensors in each part of a multi-tensor kernel
/// (`in_parts`). A part is a group of tensors that are computed together, such
/// as a weight and its gradient. One launch of the kernel computes many parts.
int64_t numPartTensorsOf(rank::KernelOp kernel);

/// Tells `w` where the operands of `kernel` are in memory. `w` is the builder
/// that emits the code of the kernel. `w` can then emit code that loads
/// elements of the operands. `arguments` are the arguments of the LLVM function
/// that computes `kernel`, in this order:
///
///   - one pointer per operand of `kernel`
///   - one pointer per result of `kernel`
///   - the i64 arguments of `kernel`
///
/// Most kernels have no i64 arguments. An i64 argument tells where the shard of
/// the rank begins along a dim that is split over ranks. Example: if a dim of
/// 64 elements is split over two ranks, the i64 is 0 on the first rank and 32
/// on the second rank. Stores the i64 arguments in `w.scalars`.
///
/// Returns the pointers to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
