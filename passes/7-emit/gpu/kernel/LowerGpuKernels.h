//===- LowerGpuKernels.h - kernels for threads of a GPU -------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// A module in the LLVM and NVVM dialects with one entry for every rank.kernel
/// of `module`: the n-th is called `pcc_k_<n>` and takes what signatureOf()
/// says; gpuPlanOf() says how many blocks and threads it needs. Those of
/// randomKernelsOf() come behind. Buffers are aligned to 16 bytes. Functions of
/// libdevice are declared. Must not run within a pass, since it loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerGpuKernels(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_LOWERGPUKERNELS_H
