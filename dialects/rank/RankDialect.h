//===- RankDialect.h - dialect of one rank's program: kernels, launches ---===//
//
// The `rank` dialect: fused kernels, library calls (GEMM and convolution with
// epilogues) and launches, also over many tensors at once (multi-tensor apply
// in Apex). Phase `7-emit` forms them from graph ops.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_RANK_RANKDIALECT_H
#define PCC_DIALECTS_RANK_RANKDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/rank/RankDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/rank/RankAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/rank/RankOps.h.inc"

namespace pcc::rank {

#include "dialects/rank/RankAttributeNames.h.inc"

/// Returns the value of the attribute `rank.gpu_arch` of `module`, or "sm_90"
/// if the module does not have this attribute. The value names the oldest GPU
/// architecture on which the kernels of the module must run.
inline llvm::StringRef gpuArchOf(mlir::ModuleOp module) {
  auto arch = module->getAttrOfType<mlir::StringAttr>(gpuArchName);
  return arch ? arch.getValue() : llvm::StringRef("sm_90");
}

} // namespace pcc::rank

#endif // PCC_DIALECTS_RANK_RANKDIALECT_H
