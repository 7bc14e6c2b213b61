//===- GpuArch.h - GPU architecture that kernels are compiled for ---------===//

#ifndef PCC_DIALECTS_RANK_GPUARCH_H
#define PCC_DIALECTS_RANK_GPUARCH_H

#include "mlir/IR/BuiltinOps.h"

namespace pcc::rank {

/// StringAttr on a module with target cuda: the oldest GPU architecture that
/// kernels have to run on, in LLVM's spelling; "sm_90" if absent.
inline constexpr llvm::StringLiteral gpuArchName = "rank.gpu_arch";

/// Returns the GPU architecture that kernels of `module` are compiled for.
inline llvm::StringRef gpuArchOf(mlir::ModuleOp module) {
  auto arch = module->getAttrOfType<mlir::StringAttr>(gpuArchName);
  return arch ? arch.getValue() : llvm::StringRef("sm_90");
}

} // namespace pcc::rank

#endif // PCC_DIALECTS_RANK_GPUARCH_H
