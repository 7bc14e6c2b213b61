//===- Ptx.h - translation of kernels to PTX ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Returns whether `arch` is the name of a GPU architecture that kernels can be
/// compiled for: one that LLVM knows, from "sm_80" on. The suffixes `a` and `f`
/// are allowed.
bool isGpuArch(llvm::StringRef arch);

/// Returns PTX with the entries of all kernels of `module` (LowerGpuKernels.h
/// describes names and parameters). On failure emits an error.
///
/// `arch` must satisfy isGpuArch(). `libdevice` is the path of NVIDIA's bitcode
/// library libdevice, whose functions become part of the PTX. Equal modules
/// give equal text. Loads dialects, so it must not run within a pass.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
