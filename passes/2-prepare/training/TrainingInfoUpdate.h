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

/// Completes the weight update that a model brings in its ONNX TrainingInfo. In
/// place of gradients, this update reads placeholders. The class replaces them
/// by the gradients that the backward pass computes. Then it sets two
/// attributes to the name of a weight:
///
///   attribute       set on
///   graph.updates   ops that only the update of this weight needs
///   state_of        parameters that hold optimizer state of this weight
class TrainingInfoUpdate {
public:
  /// Collects the writes of parameters (`graph.set_parameter` ops) in `model`,
  /// which is @main.
  explicit TrainingInfoUpdate(mlir::func::FuncOp model);

  /// Returns the writes of parameters that `model` had at construction. These
  /// ops must not be erased before substituteGradients() has run.
  llvm::ArrayRef<graph::SetParameterOp> writes() const { return sets; }

  /// Replaces each placeholder of a gradient, an op `graph.loss_gradient` with
  /// the attribute `graph.gradient_of`, by the gradient of the named weight.
  /// `gradients` holds the gradients of the whole step by name of the weight; a
  /// missing one counts as zero. Then sorts the ops topologically, and sets the
  /// attributes `graph.updates` and `state_of`.
  void substituteGradients(
      const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients,
      ArithmeticBuilder &builder);

private:
  /// Stores in `weights`, for each op of the model: the names of the weights on
  /// whose gradients the op depends.
  void
  findWeights(const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients);
  /// Sets `graph.updates` on each op that serves the update of one weight. Sets
  /// `state_of` on each parameter that holds optimizer state of one weight.
  void mark();
  /// Sets `graph.updates` on ops of the update that depend on no gradient, if
  /// only the update of one weight reads them.
  void markOperands();

  mlir::func::FuncOp model;
  /// The ops that wrote parameters when this object was created.
  llvm::SmallVector<graph::SetParameterOp> sets;
  /// For each op that depends on gradients: the names of the weights of these
  /// gradients.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::StringAttr>> weights;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
