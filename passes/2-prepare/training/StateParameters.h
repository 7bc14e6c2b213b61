//===- StateParameters.h - what training keeps between steps --------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"

namespace pcc::prepare {

/// f32: what the gradient of the loss is multiplied by.
inline constexpr llvm::StringLiteral lossScaleName = "pcc.loss_scale";
/// i64: how many steps in a row had finite gradients since the scale changed.
inline constexpr llvm::StringLiteral finiteStepsName = "pcc.finite_steps";

/// The parameter `name` of the module, which is added, with `fill` everywhere,
/// in front of @main unless it is there.
graph::ParameterOp getOrCreateState(mlir::ModuleOp module, llvm::StringRef name,
                                    mlir::RankedTensorType type,
                                    double fill = 0);

/// Its value before the step.
mlir::Value read(ArithmeticBuilder &builder, graph::ParameterOp parameter);

/// The number of steps before this one, an i64 scalar.
mlir::Value readStep(ArithmeticBuilder &builder, mlir::ModuleOp module);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_STATEPARAMETERS_H
