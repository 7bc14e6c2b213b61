//===- Ptx.h - translation of kernels to PTX ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Returns whether LLVM can compile kernels for the GPU architecture `arch`:
/// "sm_80" or later. A suffix `a` or `f` is allowed, as in "sm_90a".
bool isGpuArch(llvm::StringRef arch);

/// Compiles the kernels of `module`, the functions of lowerGpuKernels(), to PTX
/// text for the GPU architecture `arch`, such as "sm_90a". isGpuArch(arch) must
/// be true. `libdevice` is the path of NVIDIA's math library. Equal modules
/// give equal text. No MLIR pass may call makePtx(), because it loads dialects.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
