//===- StateParameters.h - parameters that hold training state ------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"

namespace pcc::prepare {

/// Symbol of the parameter that holds the dynamic loss scale, an f32 scalar.
inline constexpr llvm::StringLiteral lossScaleName = "pcc.loss_scale";
/// Symbol of a parameter. A parameter is a tensor that keeps its value from one
/// training step to the next. This parameter is an i64 scalar. It counts
/// successive training steps in which all gradients are finite. The count
/// starts again at 0 after each change of the loss scale.
inline constexpr llvm::StringLiteral finiteStepsName = "pcc.finite_steps";

/// Returns the parameter of `module` that is called `name`. A parameter is a
/// tensor that keeps its value from one training step to the next. If there is
/// no such parameter, the function creates it before the function @main, which
/// must exist. The new parameter has the type `type`. In the first step, all
/// its elements are `fill`. If the parameter exists already, the function does
/// not check its type.
graph::ParameterOp getOrCreateState(mlir::ModuleOp module, llvm::StringRef name,
                                    mlir::RankedTensorType type,
                                    double fill = 0);

/// Builds an op that reads `parameter` (`graph.get_parameter`), and returns the
/// result of this op. The result is the value that the parameter had before
/// this step. In a function, each read of a parameter must come before the
/// write of the parameter.
mlir::Value read(ArithmeticBuilder &builder, graph::ParameterOp parameter);

/// Builds a read of the step counter `pcc.step`, an i64 scalar: the number of
/// earlier steps that have changed the weights. If the module has no step
/// counter, creates it.
mlir::Value readStep(ArithmeticBuilder &builder, mlir::ModuleOp module);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
