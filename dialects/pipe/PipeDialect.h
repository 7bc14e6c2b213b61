//===- PipeDialect.h - dialect of pipeline stages and schedules -----------===//
//
// The `pipe` dialect: transfers between pipeline stages, the action table of
// each position, and the attributes by which a stage is divided into functions,
// one per kind of action.
//
//===----------------------------------------------------------------------===//

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

/// IntegerAttr (i64): the pipeline stage of an op after `3-place`, and of a
/// stage function after `6-schedule`.
inline constexpr llvm::StringLiteral stageName = "pipe.stage";

/// StringAttr on the functions of a stage after `6-schedule`: the kind of
/// action that runs the function, as in PyTorch's schedule files. Absent for
/// the forward action `F`. The update consists of parts `U0`, `U1`, …, each of
/// which runs on all stages before the next part begins.
inline constexpr llvm::StringLiteral actionName = "pipe.action";
/// Value of `pipe.action` on the function that computes, once per step, what
/// all microbatches share, such as gathered weights.
inline constexpr llvm::StringLiteral unshardAction = "UNSHARD";

/// DictionaryAttr {by = @function, result = N} on an argument of a stage's
/// function: the argument takes result N of another function of the stage. If
/// `by` is the argument's own function, the argument takes the result for the
/// microbatch before, and zeros for the first one.
inline constexpr llvm::StringLiteral heldName = "pipe.held";

/// IntegerAttr (i64) on ops, within `6-schedule` when training: the function of
/// the stage that the op will be moved to, as a StagePart.
inline constexpr llvm::StringLiteral partName = "pipe.part";

/// IntegerAttr (i64) on the module: the most bytes of shared values that a
/// stage may hold through a step. Values beyond that are computed or received
/// again in every microbatch. Unlimited if absent.
inline constexpr llvm::StringLiteral maxHeldBytesName = "pipe.max_held_bytes";

/// StringAttr on the module when training: which activations the backward pass
/// recomputes (activation checkpointing; Chen et al. 2016). One of none, full,
/// selective and auto; none if absent.
inline constexpr llvm::StringLiteral recomputeName = "pipe.recompute";

/// DenseI64ArrayAttr on the module, one entry per pipeline position: the most
/// bytes of activations that the position may keep if `pipe.recompute` is auto.
/// If absent, each position keeps as few bytes as possible.
inline constexpr llvm::StringLiteral activationBytesName =
    "pipe.activation_bytes";

/// DenseI64ArrayAttr on the module, one entry per stage, set by `6-schedule`
/// when training: the floating-point operations that recomputation adds to one
/// microbatch on one rank.
inline constexpr llvm::StringLiteral recomputedFlopsName =
    "pipe.recomputed_flops";

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
