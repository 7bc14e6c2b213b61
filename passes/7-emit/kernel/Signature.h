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
///   - the i64 numbers that offsetsOf() lists for the ops of the kernel
///
/// Most kernels have no i64 arguments. A kernel needs an i64 if it computes
/// with the global index of an element in a dim that is split over ranks. The
/// i64 is the index at which the rank's shard of the dim begins. Example: if a
/// dim of 64 elements is split over two ranks, the i64 is 0 on one rank and 32
/// on the other rank. A dim may be a product of factors, such as 192 = 3 · 64.
/// There is then one i64 for each factor that is split over ranks.
///
/// `kernel` must not be a multi-tensor kernel (marked `in_parts`). A
/// multi-tensor kernel takes lists of tensors.
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

/// Tells `w` where the operands of `kernel` are in memory. `w` can then emit
/// code that loads elements of the operands. `arguments` are SSA values in this
/// order:
///
///   - one pointer per operand of `kernel`
///   - one pointer per result of `kernel`
///   - the i64 arguments of `kernel`
///
/// An i64 argument is the index at which the rank's shard of a dim begins. Most
/// kernels have no i64 arguments. Stores the i64 arguments in `w.scalars`.
/// Returns the pointers to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
