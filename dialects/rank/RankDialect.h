//===- RankDialect.h - dialect of one rank's program: kernels, launches ---===//
//
// The `rank` dialect: fused kernels, library calls (GEMM and convolution with
// epilogues) and launches, also over many tensors at once (multi-tensor apply
// in Apex). Phase `7-emit` forms them from graph ops.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_RANK_RANKDIALECT_H
#define PCC_DIALECTS_RANK_RANKDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
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

/// IntegerAttr (i64) on the module: the most bytes that the weights and the
/// arena of a rank may take; unlimited if absent. Memory that libraries
/// allocate is not counted.
inline constexpr llvm::StringLiteral memoryLimitName = "rank.memory_limit";

/// UnitAttr on the module: products of f32 may round their factors to tf32,
/// with ten bits of mantissa, which GPUs multiply faster.
inline constexpr llvm::StringLiteral tf32Name = "rank.tf32";

} // namespace pcc::rank

#endif // PCC_DIALECTS_RANK_RANKDIALECT_H
