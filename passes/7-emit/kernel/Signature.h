//===- Signature.h - what a kernel's code takes ---------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
#define PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Of a kernel that is not in parts: pointers to the operands' buffers, then to
/// the results', then an i64 for every offset (offsetsOf) of its ops, in their
/// order.
llvm::SmallVector<mlir::Type> signatureOf(rank::KernelOp kernel);

/// Of a kernel in parts: the arguments that all parts read, and how many
/// tensors each part has.
mlir::ValueRange sharedArgumentsOf(rank::KernelOp kernel);
int64_t numPartTensorsOf(rank::KernelOp kernel);

/// Tells the writer which of `arguments` is what; returns the results'
/// pointers.
llvm::SmallVector<mlir::Value> bindArguments(KernelWriter &w,
                                             rank::KernelOp kernel,
                                             mlir::ValueRange arguments);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SIGNATURE_H
