//===- Ptx.h - translation of kernels to PTX ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Returns whether kernels can be compiled for the GPU architecture named
/// `arch`: "sm_80" or a later one that LLVM knows. The suffixes `a` and `f` are
/// allowed, as in "sm_90a".
bool isGpuArch(llvm::StringRef arch);

/// Returns the PTX of all kernels of `module`. LowerGpuKernels.h describes the
/// names and parameters of the functions of the PTX. On failure emits an error.
///
/// `arch` must satisfy isGpuArch(). `libdevice` is the path of libdevice,
/// NVIDIA's math library in LLVM bitcode. The PTX contains the functions of
/// libdevice that kernels call. Equal modules give equal text. Loads dialects,
/// so it must not run within a pass.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
