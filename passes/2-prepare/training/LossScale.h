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
/// gradient changes no weight and no optimizer state. `--loss-scale X` gives a
/// constant factor. `--loss-scale dynamic(initial=X, interval=N)` gives a
/// factor that begins with X. A step with an infinite or NaN gradient halves
/// this factor, and N successive steps with finite gradients double it. The
/// defaults are X = 65536 and N = 2000, as in PyTorch's GradScaler.
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

  /// Returns the loss scale that the user chooses with the option
  /// `--loss-scale`. For example, `--loss-scale 1024` gives a constant loss
  /// scale of 1024. Returns an error if the value of this option is invalid. If
  /// the user does not give this option, the result depends on the option
  /// `--dtype`, the float type of the model's matrix products. With
  /// `--dtype f16`, the result is a dynamic loss scale with the default
  /// settings. Otherwise, the result is nullopt: training uses no loss scale.
  /// The function reads both options from attributes of `module`:
  ///
  ///   --loss-scale   entry `loss_scale` of the dictionary `graph.training`
  ///   --dtype        attribute `graph.precision`
  static StatusOr<std::optional<LossScale>> of(mlir::ModuleOp module);

  /// Builds the loss scale of the current step, an f32 scalar. If the loss
  /// scale is constant, builds a constant. If the loss scale is dynamic, builds
  /// a read of the parameter `pcc.loss_scale`. This parameter keeps its value
  /// from one step to the next. If `module` has no such parameter, the function
  /// creates it.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Builds the update of a dynamic loss scale at the end of a step. The update
  /// writes two parameters. Both keep their values until the next step:
  ///
  ///   pcc.loss_scale     loss scale of the next step
  ///   pcc.finite_steps   number of successive steps with finite gradients
  ///                      since the loss scale last changed
  ///
  /// `isFinite` is a Boolean scalar in the graph. It is true if all gradients
  /// of this step are finite. If the loss scale is constant, the function
  /// builds nothing.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
