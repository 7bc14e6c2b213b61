//===- PipeDialect.h - dialect of pipeline stages and schedules -----------===//
//
// The `pipe` dialect: transfers between pipeline stages, the action table of
// each position, and the attributes by which a stage is divided into functions,
// one per kind of action.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_PIPE_PIPEDIALECT_H
#define PCC_DIALECTS_PIPE_PIPEDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
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

#include "dialects/pipe/PipeAttributeNames.h.inc"

/// Value of the attribute `pipe.action` on a function that runs once per step,
/// for example to gather weights for all microbatches.
inline constexpr llvm::StringLiteral unshardAction = "UNSHARD";

/// Returns the index of the pipeline stage to which an op or function belongs;
/// 0 if it has no attribute `pipe.stage`.
inline int64_t stageOf(mlir::Operation *op) {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(stageName);
  return stage ? stage.getInt() : 0;
}

/// Returns the kind of action that runs `function`: the value of its attribute
/// `pipe.action`, or "F" (forward) without that attribute.
inline llvm::StringRef actionOf(mlir::Operation *function) {
  auto action = function->getAttrOfType<mlir::StringAttr>(actionName);
  return action ? action.getValue() : "F";
}

/// Returns whether `function` runs once per step, not once per microbatch: as
/// `UNSHARD` (gather of weights) or as a part of the update (U0, U1, …).
inline bool runsOnce(mlir::Operation *function) {
  return actionOf(function).starts_with("U");
}

/// Content of the attribute `pipe.held` of a function argument: the function of
/// the same stage that returned the argument's value. There are two cases:
///
///  - `by` is another function, which has run before.
///  - `by` is the argument's own function, run for the previous microbatch.
struct Held {
  /// Symbol name of the function whose result an argument holds.
  llvm::StringRef by;
  /// Index of the held result: 0 for the first result of the function `by`.
  unsigned result;
};
/// Returns the attribute `pipe.held` of a function argument, which names the
/// function result that the argument holds. `attributes` has all attributes of
/// the argument; it may be null. Returns nullopt if `pipe.held` is absent or
/// malformed.
std::optional<Held> heldOf(mlir::DictionaryAttr attributes);
/// Returns the attribute `pipe.held` of `argument`, which names the function
/// result that the argument holds. Returns nullopt if the attribute is absent
/// or malformed.
std::optional<Held> heldOf(mlir::BlockArgument argument);
/// Returns the value that `argument` holds. Its attribute `pipe.held` names a
/// result of a function; the value is that operand of the function's
/// terminator. Returns null if the attribute, the function or the operand does
/// not exist.
mlir::Value heldBy(mlir::BlockArgument argument);
/// Returns whether `argument` holds a value that its own function returned for
/// the previous microbatch, such as a sum of gradients.
bool isAccumulator(mlir::BlockArgument argument);
/// Returns an attribute `pipe.held` for a function argument. `held` names the
/// function result that the argument holds.
mlir::NamedAttribute heldAttr(mlir::MLIRContext *context, const Held &held);

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
