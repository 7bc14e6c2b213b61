//===- Signature.h - arguments of a kernel's function ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Returns the argument types of the function of `kernel`, which is not
/// `in_parts`:
///
///   a pointer per operand | a pointer per result | an i64 per offset
///
/// The offsets are those of offsetsOf(), for the kernel's ops in their order.
llvm::SmallVector<mlir::Type> signatureOf(rank::KernelOp kernel);

/// Returns the arguments of `kernel`, which is `in_parts`, that all parts read:
/// the leading scalar tensors.
mlir::ValueRange sharedArgumentsOf(rank::KernelOp kernel);
/// Returns the number of tensors, operands and results, that each part of
/// `kernel` has. `kernel` is `in_parts`.
int64_t numPartTensorsOf(rank::KernelOp kernel);

/// Binds the kernel's operands and scalars in `w` to `arguments`, which are in
/// the order of signatureOf(). Returns the pointers to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
