//===- LowerGpuKernels.h - lowering of kernels to the NVVM dialect --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Lowers the kernels of `module` for GPUs. Returns a new module in the LLVM
/// and NVVM dialects, or null on failure.
///
/// Kernel number n becomes the function `pcc_k_<n>`. The rank.kernel ops have
/// the first numbers, in the order of `module`. The kernels that fill weights
/// with random numbers (randomKernelsOf()) have the next numbers.
///
/// There are three kinds of kernels. The kind determines the parameters of the
/// function:
///
///   - A rank.kernel op without the attribute `in_parts`. The parameters are a
///     pointer to each operand, then a pointer to each result. Some kernels
///     also have parameters of type i64 (signatureOf()). Example: the index at
///     which the rank's shard of a tensor begins along one dim.
///   - A rank.kernel op with the attribute `in_parts`. The kernel computes many
///     tensors in one launch. The first parameter is a table of the addresses
///     and sizes of the tensors (runtime::TensorTable), passed by value. The
///     other parameters are pointers to operands that the kernel uses for every
///     tensor, such as a learning rate (sharedArgumentsOf()).
///   - A kernel that fills a weight with random numbers. The first parameter is
///     a pointer to the memory of the weight. The other parameters are the
///     fields of runtime::RandomScalars. The fields describe which elements of
///     the weight the kernel generates.
///
/// All pointers must be aligned to 16 bytes.
///
/// The function gpuPlanOf() returns the number of threads of a block of each
/// rank.kernel op. If the op has no attribute `in_parts`, gpuPlanOf() also
/// returns the number of blocks. If the op has this attribute, the kernel's
/// tensors are cut into tiles, and one block computes one tile.
///
/// The new module declares the functions of libdevice, NVIDIA's math library,
/// that the kernels call. The new module does not define these functions.
///
/// An MLIR pass must not call lowerGpuKernels(), because lowerGpuKernels()
/// loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
