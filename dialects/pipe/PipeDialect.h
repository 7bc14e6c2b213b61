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

/// On the functions of a stage, after `6-schedule`: StringAttr, the kind of the
/// actions that run it, as in PyTorch's schedule files; without it `F`. The
/// update has parts, one after another on all stages: `U0`, `U1`, …
inline constexpr llvm::StringLiteral actionName = "pipe.action";
inline constexpr llvm::StringLiteral unshardAction = "UNSHARD";

/// On an argument of such a function: DictionaryAttr {by = @function, result =
/// N}, another function of the stage whose result it is. A function that takes
/// its own result takes that of the microbatch before, and zeros at first.
inline constexpr llvm::StringLiteral heldName = "pipe.held";

/// On ops within `6-schedule`, when training: IntegerAttr (i64), which of a
/// stage's functions they go to.
inline constexpr llvm::StringLiteral partName = "pipe.part";

/// On the module, if given: IntegerAttr (i64), the most bytes that a stage may
/// hold through a step so as not to compute or receive them again.
inline constexpr llvm::StringLiteral maxHeldBytesName = "pipe.max_held_bytes";

/// On the module, when training: StringAttr, which activations are made again
/// in the backward pass (none, full, selective or auto); none without it.
inline constexpr llvm::StringLiteral recomputeName = "pipe.recompute";

/// On the module, if `pipe.recompute` is auto: DenseI64ArrayAttr, by position,
/// the most bytes that its activations shall take as `plan/Recompute` counts
/// them. Without it as few as can be.
inline constexpr llvm::StringLiteral activationBytesName =
    "pipe.activation_bytes";

/// On the module, of `6-schedule`, when training: DenseI64ArrayAttr, by stage,
/// the floating-point operations of one microbatch on one rank that are those
/// of a recomputation.
inline constexpr llvm::StringLiteral recomputedFlopsName =
    "pipe.recomputed_flops";

/// The stage of an op; 0 where none was given.
inline int64_t stageOf(mlir::Operation *op) {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(stageName);
  return stage ? stage.getInt() : 0;
}

inline llvm::StringRef actionOf(mlir::Operation *function) {
  auto action = function->getAttrOfType<mlir::StringAttr>(actionName);
  return action ? action.getValue() : "F";
}

/// Whether a function runs once per step, not for every microbatch: what all of
/// them share, and the parts of the update.
inline bool runsOnce(mlir::Operation *function) {
  return actionOf(function).starts_with("U");
}

/// A result of another function of the stage.
struct Held {
  llvm::StringRef by;
  unsigned result;
};
/// Of the attributes of an argument; nothing if it is another one.
std::optional<Held> heldOf(mlir::DictionaryAttr attributes);
std::optional<Held> heldOf(mlir::BlockArgument argument);
/// What the other function returns; null if an argument takes none, or the
/// module has none.
mlir::Value heldBy(mlir::BlockArgument argument);
/// Whether a function takes its own result of the microbatch before: a sum.
bool isAccumulator(mlir::BlockArgument argument);
mlir::NamedAttribute heldAttr(mlir::MLIRContext *context, const Held &held);

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
