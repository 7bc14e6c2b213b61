//===- Losses.h - the losses that a model can be trained on ---------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/LossExpression.h"

namespace pcc::prepare {

/// A loss of an output and labels: a sum over all labels that count, divided by
/// how many they are, however the batch is cut.
struct Loss {
  llvm::StringRef name;
  /// Settings that it takes.
  llvm::ArrayRef<llvm::StringRef> settings;
  /// The type of the labels of an output; null if the output does not fit.
  mlir::RankedTensorType (*labelsOf)(mlir::RankedTensorType output);
  /// A scalar.
  mlir::Value (*build)(ArithmeticBuilder &builder, mlir::Value output,
                       mlir::Value labels, const LossExpression &expression);
};

/// Null if no loss is called so.
const Loss *findLoss(llvm::StringRef name);

/// "cross_entropy, mse"
std::string lossNames();

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSES_H
