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

/// Connects the update of a model's TrainingInfo with the gradients of the
/// backward pass. Before, the update reads placeholders
/// (`graph.loss_gradient` with `graph.gradient_of`) through `graph.accumulate`.
/// After substituteGradients(), it has the form that apply-optimizer builds for
/// an optimizer of its own:
///  - the update reads the accumulated gradients of the whole step;
///  - ops that serve the update of one weight name it in `graph.updates`;
///  - a parameter that one weight's update writes, and that has the type of the
///    weight, is marked as its optimizer state (`state_of`).
class TrainingInfoUpdate {
public:
  /// Collects the parameter writes of `model`, which is @main.
  explicit TrainingInfoUpdate(mlir::func::FuncOp model);

  /// Returns the parameter writes that the model had at construction. The ops
  /// must not be erased before substituteGradients() has run.
  llvm::ArrayRef<graph::SetParameterOp> writes() const { return sets; }

  /// Replaces each placeholder by the gradient of its weight, or by zeros if
  /// `gradients` has none. `gradients` maps names of weights to gradients that
  /// are accumulated over the step. Afterwards sorts the ops of the function
  /// topologically and sets the marks.
  void substituteGradients(
      const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients,
      ArithmeticBuilder &builder);

private:
  /// Fills `weights`.
  void
  findWeights(const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients);
  /// Sets `graph.updates` on ops and `state_of` on parameters.
  void mark();
  /// Sets `graph.updates` on ops of the update that depend on no gradient.
  void markOperands();

  mlir::func::FuncOp model;
  /// The parameter writes at construction.
  llvm::SmallVector<graph::SetParameterOp> sets;
  /// For each op that depends on gradients: the weights of these gradients.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::StringAttr>> weights;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
