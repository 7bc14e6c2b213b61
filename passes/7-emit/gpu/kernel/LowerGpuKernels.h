//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` for GPUs. Returns a new module in the LLVM
/// and NVVM dialects, or null on failure.
///
/// The function of kernel number n is called `pcc_k_<n>`. The rank.kernel ops
/// of `module` have the first numbers. The kernels of randomKernelsOf(), which
/// fill random weights, follow. The parameters of a function are
///
///   ordinary kernel          those of signatureOf()
///   multi-tensor kernel      a runtime::TensorTable by value, then a pointer
///                            for each of sharedArgumentsOf()
///   kernel that fills        a pointer to the weight, then the fields of
///   random weights           runtime::RandomScalars
///
/// All pointers must be aligned to 16 bytes. A launch of an ordinary kernel has
/// the numbers of blocks and threads of gpuPlanOf(). A launch of a multi-tensor
/// kernel (`in_parts`) has one block per tile. The functions of libdevice,
/// NVIDIA's math library, are declared, but not defined.
///
/// Loads dialects, so it must not run within a pass.
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
