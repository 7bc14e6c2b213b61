//===- Signature.h - arguments of a kernel's function ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Returns the argument types of the LLVM function that computes `kernel`: one
/// pointer per operand, one pointer per result, then the i64 numbers that
/// offsetsOf() describes. `kernel` must not be a multi-tensor kernel (attribute
/// `in_parts`).
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

/// Tells `w`, which emits the code of `kernel`, where the operands are in
/// memory. `arguments` are the arguments of the LLVM function that computes
/// `kernel`: one pointer per operand, one pointer per result, then the i64
/// arguments. An i64 argument tells where the rank's shard begins along a dim
/// that is split over ranks. Stores the i64 arguments in `w.scalars`. Returns
/// the pointers to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
