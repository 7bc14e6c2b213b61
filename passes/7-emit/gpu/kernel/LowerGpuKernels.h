//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` to a new module in the LLVM and NVVM
/// dialects. Returns null on failure. No MLIR pass may call this function,
/// because it loads dialects. Kernel n becomes the function `pcc_k_<n>`. The
/// rank.kernel ops have the first numbers, and the kernels of randomKernelsOf()
/// (random weights) follow. A rank.kernel with the attribute `in_parts` is a
/// multi-tensor kernel, which updates many weights in one launch. The functions
/// have these parameters, with pointers aligned to 16 bytes:
///
///   rank.kernel             types of signatureOf()
///   rank.kernel, in_parts   runtime::TensorTable, pointers to shared operands
///   random weights          pointer to the weight, runtime::RandomScalars
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
