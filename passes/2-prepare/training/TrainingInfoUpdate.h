//===- TrainingInfoUpdate.h - the update that a model spells out ----------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace pcc::prepare {

/// The writes that 1-import has made of a model's TrainingInfo, and what they
/// are made of. Gradients are stood for (graph::gradientOfName) until they are
/// there; then the update is what apply-optimizer makes of an optimizer: ops
/// behind graph.accumulate, each marked with the weight that it makes, and
/// state that knows its weight.
class TrainingInfoUpdate {
public:
  explicit TrainingInfoUpdate(mlir::func::FuncOp model);

  /// What was there when this was made.
  llvm::ArrayRef<graph::SetParameterOp> writes() const { return sets; }

  /// Puts gradients, of the whole step, in the place of what stands for them,
  /// 0 where there is none; then orders the ops and marks them.
  void substituteGradients(
      const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients,
      ArithmeticBuilder &builder);

private:
  void
  findWeights(const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients);
  void mark();
  void markOperands();

  mlir::func::FuncOp model;
  llvm::SmallVector<graph::SetParameterOp> sets;
  /// Of each op that depends on gradients, the weights whose they are.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::StringAttr>> weights;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
