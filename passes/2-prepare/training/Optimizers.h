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
  /// Number of the step, counted from 1, a scalar.
  mlir::Value step;
  /// Coefficient of weight decay; 0 if the weight is excluded from decay.
  double decay = 0;
  /// Returns the weight's optimizer state with a given name, such as
  /// "momentum", at the beginning of the step. It is zero in the first step.
  /// May be called once per name.
  llvm::function_ref<mlir::Value(llvm::StringRef)> state;
  /// Sets the value that the weight's optimizer state with a given name, such
  /// as "momentum", has in the next step. `state` must have been called with
  /// this name before.
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
