//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` for GPUs. Returns a new module in the LLVM
/// and NVVM dialects, or null on failure.
///
/// The function of kernel number n is called `pcc_k_<n>`. The numbers start
/// with the rank.kernel ops of `module`, followed by the kernels of
/// randomKernelsOf(), which fill random weights. The parameters of a function
/// are
///
///   rank.kernel              those of signatureOf()
///   rank.kernel, in_parts    a runtime::TensorTable by value, then a pointer
///                            per shared argument
///   random weights           a pointer, then the fields of RandomScalars
///
/// All pointers must be aligned to 16 bytes. A rank.kernel has to be launched
/// with the numbers of blocks and threads of gpuPlanOf(), except that a
/// multi-tensor kernel (`in_parts`) needs one block per tile. Functions of
/// libdevice, NVIDIA's math library, are declared, but not defined.
///
/// Loads dialects, so it must not run within a pass.
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
