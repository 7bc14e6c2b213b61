//===- LossScale.h - loss scaling for gradients in f16 --------------------===//
//
// Loss scaling (mixed precision training, Micikevicius et al. 2018): gradients
// in f16 underflow to 0, so the backward pass starts from a multiple of the
// loss gradient, and the gradients of the weights are divided by it again.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "status/StatusOr.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// Factor by which the gradient of the loss is multiplied before the backward
/// pass, so that small f16 gradients are not rounded to 0. The gradients of the
/// weights are later divided by this factor. A step with an infinite or NaN
/// gradient changes no weight and no optimizer state, and halves a dynamic
/// factor. The defaults are those of PyTorch's GradScaler.
struct LossScale {
  /// Loss scale of the first step, a positive number. A constant loss scale
  /// has this value in every step. A dynamic loss scale may change after each
  /// step.
  double initial = 65536;
  /// Number of successive steps with finite gradients after which a dynamic
  /// scale is doubled.
  double interval = 2000;
  /// True if the loss scale is dynamic: each step may double or halve the loss
  /// scale for the next step. False if the loss scale is `initial` in every
  /// step.
  bool isDynamic = true;

  /// Parses the value of `--loss-scale`: a positive number, or an expression
  /// such as "dynamic(initial=65536, interval=2000)". Returns an error with
  /// exit code 2 if the syntax, the name of a setting or a number is wrong.
  static StatusOr<LossScale> parse(llvm::StringRef text);

  /// Returns the loss scale that the option `--loss-scale` requests, or an
  /// error if the value of the option is invalid. Without the option, returns
  /// the default dynamic loss scale for `--dtype f16`, and nullopt (no loss
  /// scale) otherwise. Reads both options from attributes of `module`.
  static StatusOr<std::optional<LossScale>> of(mlir::ModuleOp module);

  /// Builds the loss scale of the current step, an f32 scalar. If the loss
  /// scale is constant, builds a constant. If the loss scale is dynamic, builds
  /// a read of the parameter `pcc.loss_scale`. This parameter keeps its value
  /// from one step to the next. If `module` has no such parameter, the function
  /// creates it.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Builds the update of a dynamic loss scale at the end of a step. The update
  /// writes `pcc.loss_scale` and `pcc.finite_steps`, a counter of steps with
  /// finite gradients. `isFinite`, a Boolean scalar, is true if all gradients
  /// of this step are finite. Builds nothing for a constant loss scale.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
