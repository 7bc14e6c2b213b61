//===- Ptx.h - PTX of kernels ---------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc::emit {

/// Whether LLVM knows a GPU of that name that kernels can be made for: "sm_80"
/// or a later one.
bool isGpuArch(llvm::StringRef arch);

/// The text of all rank.kernels of `module`, the n-th as the entry `pcc_k_<n>`
/// (LowerGpuKernels.h). `arch` is a name such as "sm_90", from sm_80 on;
/// `libdevice` the file of NVIDIA's bitcode library of that name. Equal modules
/// give equal text. Must not run within a pass.
mlir::FailureOr<std::string>
makePtx(mlir::ModuleOp module, llvm::StringRef arch, llvm::StringRef libdevice);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_PTX_H
