//===- Signature.h - arguments of a kernel's function ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Returns the argument types of the function of `kernel`:
///
///   a pointer per operand | a pointer per result | an i64 per scalar
///
/// A scalar is the index at which the rank's shard of a dim begins (see
/// offsetsOf()). `kernel` must not be a multi-tensor kernel (`in_parts`), which
/// takes lists of tensors.
llvm::SmallVector<mlir::Type> signatureOf(rank::KernelOp kernel);

/// Returns the arguments that are numbers, such as a learning rate, of a
/// multi-tensor kernel (`in_parts`). One launch of the kernel processes many
/// tensors, which share these numbers. They are the first arguments.
mlir::ValueRange sharedArgumentsOf(rank::KernelOp kernel);
/// Returns the number of tensors in each part of a multi-tensor kernel
/// (`in_parts`). A part is a group of tensors that are computed together, such
/// as a weight and its gradient. One launch of the kernel computes many parts.
int64_t numPartTensorsOf(rank::KernelOp kernel);

/// Makes `arguments` known to `w`, so that `w` can read the operands of
/// `kernel`. `arguments` are the pointers and scalars in the order of
/// signatureOf(). Returns the pointers to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
