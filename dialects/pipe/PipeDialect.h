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

/// Value of the attribute `pipe.action` on a function that runs once per step
/// to compute values that all microbatches of a stage share, such as gathered
/// weights.
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

/// Returns whether `function` runs once per step rather than once per
/// microbatch. This holds for `UNSHARD` (gather of shared values) and for the
/// parts of the update, U0, U1, ….
inline bool runsOnce(mlir::Operation *function) {
  return actionOf(function).starts_with("U");
}

/// Content of the attribute `pipe.held` of a function argument. The attribute
/// names the function of the same stage that returns the argument's value.
/// There are two cases:
///
///  - `by` is another function, which has run before.
///  - `by` is the argument's own function. The value is the result of that
///    function for the previous microbatch.
struct Held {
  /// Symbol name of the function that returns the value.
  llvm::StringRef by;
  /// Index of the value among the results of the function `by`.
  unsigned result;
};
/// Returns the content of `pipe.held` in `attributes`, the attributes of a
/// function argument. Returns nullopt if `pipe.held` is absent or malformed, or
/// if `attributes` is null.
std::optional<Held> heldOf(mlir::DictionaryAttr attributes);
/// Returns the content of the attribute `pipe.held` of `argument`, a function
/// argument. Returns nullopt if the attribute is absent or malformed.
std::optional<Held> heldOf(mlir::BlockArgument argument);
/// Returns the value that the attribute `pipe.held` of `argument` refers to.
/// The value is an operand of the terminator of the function Held::by. Returns
/// null if `argument` has no `pipe.held`, or if the module lacks the function
/// or the result.
mlir::Value heldBy(mlir::BlockArgument argument);
/// Returns whether `argument` holds the value that its function returned for
/// the previous microbatch. The function then accumulates over microbatches.
bool isAccumulator(mlir::BlockArgument argument);
/// Returns an attribute `pipe.held` with the content `held`.
mlir::NamedAttribute heldAttr(mlir::MLIRContext *context, const Held &held);

} // namespace pcc::pipe

#endif // PCC_DIALECTS_PIPE_PIPEDIALECT_H
