//===- PipeDialect.h - dialect of pipeline stages and schedules -----------===//
//
// The `pipe` dialect: transfers between pipeline stages, the action table of
// each pipeline rank, and the attributes by which a stage is divided into
// functions, one per kind of action.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_PIPE_PIPEDIALECT_H
#define PCC_DIALECTS_PIPE_PIPEDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
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

/// Returns the value of the integer attribute `name` of `module`. Returns 1 if
/// `module` has no such attribute. For example, a module without the attribute
/// `pipe.microbatches` has 1 microbatch.
inline int64_t countOf(mlir::ModuleOp module, llvm::StringRef name) {
  auto count = module->getAttrOfType<mlir::IntegerAttr>(name);
  return count ? count.getInt() : 1;
}

/// Returns the kind of pipeline action (one step of the pipeline schedule) that
/// runs `function`. The kind is the attribute `pipe.action`, by default F:
///
///   F         forward
///   B         backward
///   I         backward, only the gradients of the stage's inputs
///   W         backward, only the gradients of the weights
///   UNSHARD   values that all microbatches use, such as gathered weights
///   U0        first action of the weight update; U1 is the second action
inline llvm::StringRef actionOf(mlir::Operation *function) {
  auto action = function->getAttrOfType<mlir::StringAttr>(actionName);
  return action ? action.getValue() : "F";
}

/// Returns whether `function` runs once per step instead of once per
/// microbatch. Examples are the weight update and the gather of weights.
inline bool runsOnce(mlir::Operation *function) {
  return actionOf(function).starts_with("U");
}

/// Content of the attribute `pipe.held` of a function argument. The argument
/// gets a result of a function of the same pipeline stage. If `by` names the
/// argument's own function, the result is that of the previous microbatch.
struct Held {
  /// Symbol name of a function. The function argument that has the attribute
  /// `pipe.held` gets the value of a result of this function. The argument
  /// belongs to a function of the same pipeline stage.
  llvm::StringRef by;
  /// Number of a result of the function whose symbol name is the member `by`.
  /// The first result has the number 0. The function argument that has the
  /// attribute `pipe.held` gets the value of this result. Example: @forward
  /// returns (%x, %y), and @backward has the argument %a. If the attribute
  /// `pipe.held` of %a has `by` = @forward and `result` = 1, the value of %a is
  /// %y.
  unsigned result;
};
/// Returns the content of the attribute `pipe.held` of a function argument. The
/// attribute says that the value of the argument is a result of a function:
/// `by` names the function, and `result` is the number of the result.
/// `attributes` holds all attributes of the argument, and it may be null.
/// Returns nullopt if the attribute `pipe.held` is absent or malformed.
std::optional<Held> heldOf(mlir::DictionaryAttr attributes);
/// Returns the content of the attribute `pipe.held` of the function argument
/// `argument`. The attribute says that the value of the argument is a result of
/// a function: `by` names the function, and `result` is the number of the
/// result. Returns nullopt if the attribute is absent or malformed.
std::optional<Held> heldOf(mlir::BlockArgument argument);
/// Returns the function that the attribute `pipe.held` of `argument` names, a
/// function beside that of `argument`. Returns null if the attribute or the
/// function is missing.
mlir::FunctionOpInterface makerOf(mlir::BlockArgument argument);
/// Returns the SSA value that the attribute `pipe.held` passes to `argument`.
/// It is an operand of the return op in the function that the attribute names.
/// Returns null if the attribute, the function body or the result is missing.
mlir::Value heldBy(mlir::BlockArgument argument);
/// Returns whether `argument` holds a value that its own function returned for
/// the previous microbatch, such as a sum of gradients.
bool isAccumulator(mlir::BlockArgument argument);
/// Returns an attribute `pipe.held` with the content `held`. A function
/// argument with this attribute gets its value from a result of a function:
/// `held.by` names the function, and `held.result` is the number of the result.
mlir::NamedAttribute heldAttr(mlir::MLIRContext *context, const Held &held);

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
