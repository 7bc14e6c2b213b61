//===- Optimizers.h - how a weight follows from its gradient --------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
#define PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/TrainingRequest.h"

namespace pcc::prepare {

/// What an update of one weight is made of. The numbers are scalars: f64 for
/// `step`, else of the type that the update computes in.
struct UpdateInputs {
  mlir::Value weight, gradient;
  /// The learning rate.
  mlir::Value rate;
  /// The number of this step, from 1.
  mlir::Value step;
  /// How much the weight decays; 0 if it does not.
  double decay = 0;
  /// The state called so, from the step before; zeros at first.
  llvm::function_ref<mlir::Value(llvm::StringRef)> state;
  /// Keeps a state for the next step.
  llvm::function_ref<void(llvm::StringRef, mlir::Value)> keep;
};

/// The names, defaults and formulas of an optimizer are PyTorch's.
struct Optimizer {
  llvm::StringRef name;
  double defaultRate, defaultDecay;
  /// The weight after the step.
  mlir::Value (*update)(ArithmeticBuilder &builder,
                        const TrainingRequest &request,
                        const UpdateInputs &inputs);
};

/// Null if none is called so.
const Optimizer *findOptimizer(llvm::StringRef name);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_OPTIMIZERS_H
