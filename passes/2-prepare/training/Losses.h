//===- Losses.h - loss functions of training ------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/LossExpression.h"

namespace pcc::prepare {

/// A loss function of a model output and labels: the mean over all labels of
/// the whole batch that are not ignored. Invariant: the loss does not depend on
/// how the batch is divided into microbatches and shards.
struct Loss {
  /// Name of the function in `--loss`, such as "cross_entropy".
  llvm::StringRef name;
  /// Names of the settings that the loss accepts, such as "ignore_index".
  llvm::ArrayRef<llvm::StringRef> settings;
  /// Returns the type of the labels for a given type of output: for
  /// cross_entropy, an output [..., classes] needs labels i64 [...]. Returns
  /// null if the loss is not defined for that output.
  mlir::RankedTensorType (*labelsOf)(mlir::RankedTensorType output);
  /// Builds the loss, a float scalar. `labels` must have the type that
  /// `labelsOf` returns for the output. `expression` holds the settings.
  mlir::Value (*build)(ArithmeticBuilder &builder, mlir::Value output,
                       mlir::Value labels, const LossExpression &expression);
};

/// Returns the loss called `name`; null if there is none. The result has static
/// lifetime.
const Loss *findLoss(llvm::StringRef name);

/// Returns the names of all losses, for error messages: "cross_entropy, mse".
std::string lossNames();

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
