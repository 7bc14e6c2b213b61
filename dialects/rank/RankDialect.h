//===- RankDialect.h - kernels and their launches -------------------------===//

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

/// On the module: bytes that the weights and the arena of a rank may take; none
/// if --memory-limit was not given. What libraries take is not counted.
inline constexpr llvm::StringLiteral memoryLimitName = "rank.memory_limit";

/// On the module, a unit: products of f32 may round their factors to the ten
/// bits of tf32, which GPUs multiply faster.
inline constexpr llvm::StringLiteral tf32Name = "rank.tf32";

} // namespace pcc::rank

#endif // PCC_DIALECTS_RANK_RANKDIALECT_H
