//===- Optimizers.h - optimizers: updates of weights by gradients ---------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/TrainingRequest.h"

namespace pcc::prepare {

/// Inputs of the update of one weight. All tensors have the element type of the
/// weight, except `step`, which is f64.
struct UpdateInputs {
  /// The weight before the step, and the gradient of the loss with respect to
  /// it: summed over the step, unscaled and clipped. The gradient has the type
  /// of the weight.
  mlir::Value weight, gradient;
  /// Learning rate of the step, of rank 0.
  mlir::Value rate;
  /// Number of the step, counted from 1, of rank 0.
  mlir::Value step;
  /// Coefficient of weight decay; 0 if the weight is excluded from decay.
  double decay = 0;
  /// Returns the optimizer state of the weight with the given name, as the step
  /// before has left it; zeros in the first step. A state has the type of the
  /// weight. Call at most once per name.
  llvm::function_ref<mlir::Value(llvm::StringRef)> state;
  /// Writes the value of a state for the next step. `state` must have been
  /// called with the same name before.
  llvm::function_ref<void(llvm::StringRef, mlir::Value)> keep;
};

/// An optimizer: SGD, Adam, AdamW or Adagrad. Names, defaults and formulas are
/// those of torch.optim.
struct Optimizer {
  /// Value of `--optimizer`: "adamw".
  llvm::StringRef name;
  /// Learning rate and weight decay that apply if the user gives none.
  double defaultRate, defaultDecay;
  /// Builds the update and returns the weight after the step. Reads the
  /// settings of the optimizer (`momentum`, `beta1`, ...) from `request`.
  mlir::Value (*update)(ArithmeticBuilder &builder,
                        const TrainingRequest &request,
                        const UpdateInputs &inputs);
};

/// Returns the optimizer with the given name, which has static lifetime; null
/// if there is none.
const Optimizer *findOptimizer(llvm::StringRef name);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
