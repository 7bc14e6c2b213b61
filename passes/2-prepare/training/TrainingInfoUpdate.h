//===- TrainingInfoUpdate.h - the update of an ONNX TrainingInfo ----------===//
//
// An ONNX model may bring its own training step (TrainingInfoProto): an
// algorithm graph that computes new weights from gradients. 1-import adds it to
// @main as writes of parameters, with placeholders for the gradients.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace pcc::prepare {

/// Connects the update in a model's ONNX TrainingInfo with the gradients of the
/// backward pass. At first the update reads placeholders (`graph.loss_gradient`
/// ops with `graph.gradient_of`) through `graph.accumulate`. After
/// substituteGradients() the update has the same form as the one that
/// apply-optimizer builds for `--optimizer`:
///  - the update reads the gradients of the whole step;
///  - each op that serves the update of only one weight has the weight's name
///    in its attribute `graph.updates`;
///  - a parameter that one weight's update writes, and that has the type of the
///    weight, is marked as the weight's optimizer state (`state_of`).
class TrainingInfoUpdate {
public:
  /// Collects the writes of parameters (`graph.set_parameter` ops) in `model`,
  /// which is @main.
  explicit TrainingInfoUpdate(mlir::func::FuncOp model);

  /// Returns the writes of parameters that `model` had at construction. These
  /// ops must not be erased before substituteGradients() has run.
  llvm::ArrayRef<graph::SetParameterOp> writes() const { return sets; }

  /// Replaces each placeholder (op `graph.loss_gradient` with
  /// `graph.gradient_of`) by the gradient of its weight. `gradients` maps
  /// weight names to gradients of the whole step; the gradient of a missing
  /// weight is zero. Then sorts the ops topologically, and sets the attributes
  /// that the class comment describes.
  void substituteGradients(
      const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients,
      ArithmeticBuilder &builder);

private:
  /// Fills `weights`, the map from ops to the weights on whose gradients the
  /// ops depend.
  void
  findWeights(const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients);
  /// Sets `graph.updates` on each op that serves the update of one weight, and
  /// `state_of` on each parameter that holds optimizer state of one weight.
  void mark();
  /// Sets `graph.updates` on ops of the update that depend on no gradient, if
  /// only the update of one weight reads them.
  void markOperands();

  mlir::func::FuncOp model;
  /// The writes of parameters that the function had at construction.
  llvm::SmallVector<graph::SetParameterOp> sets;
  /// For each op that depends on gradients, the names of the weights to which
  /// these gradients belong.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::StringAttr>> weights;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
