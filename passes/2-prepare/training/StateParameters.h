//===- StateParameters.h - parameters that hold training state ------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"

namespace pcc::prepare {

/// Symbol of the parameter, an f32 tensor of rank 0, with the dynamic loss
/// scale.
inline constexpr llvm::StringLiteral lossScaleName = "pcc.loss_scale";
/// Symbol of the parameter, an i64 tensor of rank 0, with the number of
/// successive steps with finite gradients since the loss scale last changed.
inline constexpr llvm::StringLiteral finiteStepsName = "pcc.finite_steps";

/// Returns the parameter with symbol `name`. Unless the module has it, adds it
/// in front of @main, with type `type` and the initial value `fill` in all
/// elements. An existing parameter is returned whatever its type is. The module
/// must have @main.
graph::ParameterOp getOrCreateState(mlir::ModuleOp module, llvm::StringRef name,
                                    mlir::RankedTensorType type,
                                    double fill = 0);

/// Builds a read of `parameter`: its value from before the step. In a function,
/// all reads of a parameter stand before its write.
mlir::Value read(ArithmeticBuilder &builder, graph::ParameterOp parameter);

/// Builds a read of the step counter `pcc.step`, an i64 tensor of rank 0: the
/// number of earlier steps that have changed the weights. Adds the counter if
/// the module has none.
mlir::Value readStep(ArithmeticBuilder &builder, mlir::ModuleOp module);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
