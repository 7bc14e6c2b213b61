//===- Ptx.h - translation of kernels to PTX ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Returns whether LLVM can compile kernels for the GPU architecture `arch`:
/// "sm_80" or later. A suffix `a` or `f` is allowed, as in "sm_90a".
bool isGpuArch(llvm::StringRef arch);

/// Compiles all kernels of `module` to PTX and returns the text of the PTX.
/// Kernel number n becomes the function `pcc_k_<n>`. lowerGpuKernels()
/// documents the parameters of these functions. If the kernels cannot be
/// compiled, emits an error and returns failure. Two equal modules give equal
/// text.
///
/// `arch` is the GPU architecture, such as "sm_90a". isGpuArch() must be true
/// for `arch`. `libdevice` is the path of libdevice, NVIDIA's math library in
/// LLVM bitcode.
///
/// An MLIR pass must not call this function, because the function loads
/// dialects.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
