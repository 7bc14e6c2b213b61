//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` for GPUs. Returns a new module in the LLVM
/// and NVVM dialects, or null on failure. The new module declares the functions
/// of libdevice, NVIDIA's math library, but does not define them. An MLIR pass
/// must not call lowerGpuKernels(), because lowerGpuKernels() loads dialects.
///
/// Kernel number n becomes the function `pcc_k_<n>`. The rank.kernel ops come
/// first, in the order of `module`, then the kernels of randomKernelsOf(). All
/// pointers must be aligned to 16 bytes. gpuPlanOf() returns the number of
/// threads of a block. The parameters of the function are:
///
///   rank.kernel             types of signatureOf(): tensor pointers, then i64
///   rank.kernel, in_parts   runtime::TensorTable by value, then a pointer to
///                           each operand of sharedArgumentsOf()
///   random weights          pointer to the weight, then runtime::RandomScalars
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
