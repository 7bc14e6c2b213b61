//===- Optimizers.h - optimizers: updates of weights by gradients ---------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/TrainingRequest.h"

namespace pcc::prepare {

/// Inputs of the update of one weight. All tensors have the element type of the
/// weight, except `step`, which is f64.
struct UpdateInputs {
  /// The weight before the step, and its gradient. The gradient is complete:
  /// summed over all microbatches, divided by the loss scale and clipped.
  mlir::Value weight, gradient;
  /// Learning rate of the step, a scalar.
  mlir::Value rate;
  /// Number of the training step, an f64 scalar in the graph. The first step
  /// has the number 1.
  mlir::Value step;
  /// Coefficient of weight decay; 0 if the weight is excluded from decay.
  double decay = 0;
  /// Builds a read of an optimizer state, such as "momentum", and returns the
  /// value before this training step. The state has the type of the weight, and
  /// is zero in the first step. May be called at most once for each name.
  llvm::function_ref<mlir::Value(llvm::StringRef)> state;
  /// Builds a write of an optimizer state, such as "momentum", for the next
  /// training step. `state` must be called for this name first. With a loss
  /// scale, a step with an infinite or NaN gradient leaves the state unchanged.
  llvm::function_ref<void(llvm::StringRef, mlir::Value)> keep;
};

/// An optimizer: SGD, Adam, AdamW or Adagrad. Names, defaults and formulas are
/// those of torch.optim.
struct Optimizer {
  /// Name of the optimizer in `--optimizer`, such as "adamw".
  llvm::StringRef name;
  /// Learning rate and weight decay to use if the user gives none.
  double defaultRate, defaultDecay;
  /// Builds the update of one weight and returns the new weight. Reads the
  /// optimizer's settings, such as `momentum` or `beta1`, from `request`.
  mlir::Value (*update)(ArithmeticBuilder &builder,
                        const TrainingRequest &request,
                        const UpdateInputs &inputs);
};

/// Returns the optimizer called `name`; null if there is none. The result has
/// static lifetime.
const Optimizer *findOptimizer(llvm::StringRef name);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
