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

/// Value of `pipe.action` on the function that computes, once per step, what
/// all microbatches share, such as gathered weights.
inline constexpr llvm::StringLiteral unshardAction = "UNSHARD";

/// Returns the stage of an op or function; 0 if it has none.
inline int64_t stageOf(mlir::Operation *op) {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(stageName);
  return stage ? stage.getInt() : 0;
}

/// Returns the kind of action that runs a function: "F" unless `pipe.action`
/// says otherwise.
inline llvm::StringRef actionOf(mlir::Operation *function) {
  auto action = function->getAttrOfType<mlir::StringAttr>(actionName);
  return action ? action.getValue() : "F";
}

/// Returns whether a function runs once per step rather than once per
/// microbatch: `UNSHARD` and the parts of the update.
inline bool runsOnce(mlir::Operation *function) {
  return actionOf(function).starts_with("U");
}

/// A reference to a result of a function of the same stage; the contents of
/// `pipe.held`.
struct Held {
  /// Symbol name of the function.
  llvm::StringRef by;
  /// Index of the result.
  unsigned result;
};
/// Returns the `pipe.held` entry of an argument's attributes, or nullopt if
/// there is none or it is malformed. `attributes` may be null.
std::optional<Held> heldOf(mlir::DictionaryAttr attributes);
/// Returns the `pipe.held` entry of a function argument, or nullopt.
std::optional<Held> heldOf(mlir::BlockArgument argument);
/// Returns the value, in the other function, that a held argument takes: the
/// operand of that function's terminator. Null if the argument has no
/// `pipe.held`, or if the module has no such function or result.
mlir::Value heldBy(mlir::BlockArgument argument);
/// Returns whether an argument takes its own function's result for the
/// microbatch before, so that the function sums over microbatches.
bool isAccumulator(mlir::BlockArgument argument);
/// Returns the `pipe.held` attribute that refers to `held`.
mlir::NamedAttribute heldAttr(mlir::MLIRContext *context, const Held &held);

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
