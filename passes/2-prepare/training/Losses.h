//===- Losses.h - loss functions of training ------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/LossExpression.h"

namespace pcc::prepare {

/// Setting of a loss function: a number from `least` to `most`.
struct LossSetting {
  llvm::StringRef name;
  double least, most;
  bool isWhole = false;
};

/// Loss function. The loss is a scalar: the mean of one number per label, over
/// all labels of the batch that are not ignored. The number is -log(probability
/// of the class) for cross_entropy and (output - label)² for mse. Invariant:
/// the division of the batch into microbatches and shards does not change the
/// loss.
struct Loss {
  /// Name of the function in `--loss`, such as "cross_entropy".
  llvm::StringRef name;
  /// Settings that the loss accepts, such as "ignore_index".
  llvm::ArrayRef<LossSetting> settings;
  /// Returns the type that the labels must have if the model's output has the
  /// type `output`. For example, the labels of cross_entropy are indices of
  /// classes. The last dim of the output has one element per class, and the
  /// labels do not have this dim. An output of type tensor<2x3x10xf32>
  /// therefore needs labels of type tensor<2x3xi64>. Returns null if the loss
  /// function is not defined for `output`.
  mlir::RankedTensorType (*labelsOf)(mlir::RankedTensorType output);
  /// Builds the ops that compute the loss, and returns the loss, a float
  /// scalar. `output` is an output of the model. `labels` contains the correct
  /// answers. For example, it contains the index of the correct class for each
  /// sample. `labels` must have the type that labelsOf() returns for the type
  /// of `output`. `expression` is the parsed text of the option `--loss`. It
  /// contains the settings of the loss function, such as ignore_index = -100.
  mlir::Value (*build)(ArithmeticBuilder &builder, mlir::Value output,
                       mlir::Value labels, const LossExpression &expression);
};

/// Returns the loss called `name`; null if there is none. The result has static
/// lifetime.
const Loss *findLoss(llvm::StringRef name);

/// Parses the value of `--loss`: the name of a scalar output, or a call such as
/// "cross_entropy(logits, labels, ignore_index=-100)". Returns an error with
/// exit code 2 if the syntax is wrong. Returns an error with exit code 6 if
/// there is no such function, or if the function has no such arguments. Does
/// not check that the model has the outputs.
StatusOr<LossExpression> parseLoss(llvm::StringRef text);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
