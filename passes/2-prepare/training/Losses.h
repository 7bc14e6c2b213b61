//===- Losses.h - loss functions of training ------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/LossExpression.h"

namespace pcc::prepare {

/// A loss function of one model output and labels. The value is the mean over
/// all labels of the whole batch that are not ignored. Invariant: the value
/// does not depend on how the batch is divided into microbatches and shards. (A
/// mean of the means of microbatches would, since microbatches may ignore
/// different numbers of labels.)
struct Loss {
  /// Name of the function in `--loss`: "cross_entropy".
  llvm::StringRef name;
  /// Names of the settings that the loss accepts.
  llvm::ArrayRef<llvm::StringRef> settings;
  /// Returns the type that labels for `output` have; null if the loss is not
  /// defined for such an output. Class indices of an output [..., classes] are
  /// i64 [...].
  mlir::RankedTensorType (*labelsOf)(mlir::RankedTensorType output);
  /// Builds the loss, a float tensor of rank 0. `labels` has the type
  /// `labelsOf(type of output)`; `expression` gives the settings.
  mlir::Value (*build)(ArithmeticBuilder &builder, mlir::Value output,
                       mlir::Value labels, const LossExpression &expression);
};

/// Returns the loss with the given name, which has static lifetime; null if
/// there is none.
const Loss *findLoss(llvm::StringRef name);

/// Returns the names of all losses for error messages: "cross_entropy, mse".
std::string lossNames();

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
