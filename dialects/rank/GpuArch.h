//===- GpuArch.h - which GPUs kernels are for -----------------------------===//

#ifndef PCC_DIALECTS_RANK_GPUARCH_H
#define PCC_DIALECTS_RANK_GPUARCH_H

#include "mlir/IR/BuiltinOps.h"

namespace pcc::rank {

/// On the module, of the target cuda: the oldest GPU that kernels are for, as
/// LLVM calls it; "sm_90" where it is missing.
inline constexpr llvm::StringLiteral gpuArchName = "rank.gpu_arch";

inline llvm::StringRef gpuArchOf(mlir::ModuleOp module) {
  auto arch = module->getAttrOfType<mlir::StringAttr>(gpuArchName);
  return arch ? arch.getValue() : llvm::StringRef("sm_90");
}

} // namespace pcc::rank

#endif // PCC_DIALECTS_RANK_GPUARCH_H
