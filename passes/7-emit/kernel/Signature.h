//===- Signature.h - arguments of a kernel's function ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Returns the argument types of the function that holds the loops of `kernel`:
///
///   a pointer per operand | a pointer per result | an i64 per offset
///
/// The offsets are the scalars that offsetsOf() lists for each op of the kernel
/// in turn. `kernel` must not be a multi-tensor kernel (`in_parts`).
llvm::SmallVector<mlir::Type> signatureOf(rank::KernelOp kernel);

/// Returns the operands that all tiles of `kernel` read, such as a learning
/// rate. `kernel` is a multi-tensor kernel (`in_parts`): one launch runs it
/// over tiles of many tensors. The shared operands are its leading arguments
/// and have rank 0.
mlir::ValueRange sharedArgumentsOf(rank::KernelOp kernel);
/// Returns the number of tensors in each part of `kernel`. `kernel` is a
/// multi-tensor kernel (`in_parts`): one launch computes many parts. A part has
/// one tensor for each operand that is cut into tiles, and one for each result.
int64_t numPartTensorsOf(rank::KernelOp kernel);

/// Divides `arguments`, the arguments of the kernel's function in the order of
/// signatureOf(). Registers the pointers to operands and the scalars with `w`,
/// so that `w` can read operands. Returns the remaining arguments: the pointers
/// to the results.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
