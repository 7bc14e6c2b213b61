//===- Ptx.h - translation of kernels to PTX ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Returns whether LLVM can compile kernels for the GPU architecture `arch`:
/// "sm_80" or later. A suffix `a` or `f` is allowed, as in "sm_90a".
bool isGpuArch(llvm::StringRef arch);

/// Returns the PTX of all kernels of `module`, with the names and parameters of
/// LowerGpuKernels.h. On failure emits an error. Equal modules give equal text.
///
/// `arch` must satisfy isGpuArch(). `libdevice` is the path of libdevice,
/// NVIDIA's math library in LLVM bitcode.
///
/// Must not run within a pass, since it loads dialects.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
