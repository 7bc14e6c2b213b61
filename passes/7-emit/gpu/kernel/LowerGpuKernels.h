//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` for GPUs. Returns a new module in the LLVM
/// and NVVM dialects, or null on failure.
///
/// Kernel n becomes a function `pcc_k_<n>`. The rank.kernel ops have the first
/// numbers. The kernels of randomKernelsOf(), which fill weights with random
/// numbers, follow. The parameters of the functions are
///
///   rank.kernel               those of signatureOf()
///   rank.kernel `in_parts`    a runtime::TensorTable by value, then a pointer
///                             for each of sharedArgumentsOf()
///   kernel that fills         a pointer to the weight, then the fields of
///   random weights            runtime::RandomScalars
///
/// gpuPlanOf() gives the numbers of blocks and threads. A kernel `in_parts` (a
/// multi-tensor kernel) instead has one block per tile of its tensors. All
/// pointers must be aligned to 16 bytes.
///
/// Functions of libdevice, NVIDIA's math library, are only declared. Must not
/// run within a pass, since it loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
