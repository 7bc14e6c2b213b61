//===- PipeDialect.h - pipeline stages and their schedule -----------------===//

#ifndef PCC_DIALECTS_PIPE_PIPEDIALECT_H
#define PCC_DIALECTS_PIPE_PIPEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/pipe/PipeDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.h.inc"

namespace pcc::pipe {

/// On ops after `3-place`, and on stage functions after `6-schedule`:
/// IntegerAttr (i64).
inline constexpr llvm::StringLiteral stageName = "pipe.stage";

/// On the function of what a stage computes once per step, `@stage_K_shared`:
/// UnitAttr. On an argument of the stage's own function: IntegerAttr (i64), the
/// result of that function that it stands for.
inline constexpr llvm::StringLiteral sharedName = "pipe.shared";

/// On the module, if given: IntegerAttr (i64), the most bytes that a stage may
/// hold through a step so as not to compute or receive them again.
inline constexpr llvm::StringLiteral maxHeldBytesName = "pipe.max_held_bytes";

/// The stage of an op; 0 where none was given.
inline int64_t stageOf(mlir::Operation *op) {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(stageName);
  return stage ? stage.getInt() : 0;
}

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
