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

/// Completes the weight update of a model with an ONNX TrainingInfo. Phase
/// 1-import has translated the TrainingInfo into ops of @main that read a
/// placeholder for each gradient. This class replaces the placeholders by
/// gradients. It marks ops that only the update of one weight needs
/// (`graph.updates`) and parameters that hold optimizer state of a weight
/// (`state_of`).
class TrainingInfoUpdate {
public:
  /// Collects the writes of parameters (`graph.set_parameter` ops) in `model`,
  /// which is @main.
  explicit TrainingInfoUpdate(mlir::func::FuncOp model);

  /// Returns all ops `graph.set_parameter` that the function @main contained
  /// when the constructor ran. Each of these ops writes a new value to a
  /// parameter, such as a weight. The caller must not erase these ops before it
  /// calls substituteGradients().
  llvm::ArrayRef<graph::SetParameterOp> writes() const { return sets; }

  /// Replaces each placeholder (`graph.loss_gradient` of a weight) by the
  /// gradient of the weight, or by zero if `gradients` lacks the weight. The
  /// gradients are sums over all microbatches. Then sorts the ops and sets the
  /// attributes `graph.updates` and `state_of`.
  void substituteGradients(
      const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients,
      ArithmeticBuilder &builder);

private:
  /// Finds the gradients on which each op depends. Stores the names of the
  /// weights of these gradients in the map `weights`. An example is an op that
  /// adds the gradients of the weights u and w: its entry is {u, w}.
  /// `gradients` holds the gradient of each weight by the name of the weight.
  void
  findWeights(const llvm::MapVector<mlir::StringAttr, mlir::Value> &gradients);
  /// Sets two attributes to the name of a weight. The attribute `graph.updates`
  /// is set on each op that only the update of this weight needs. The attribute
  /// `state_of` is set on each parameter that holds optimizer state of this
  /// weight, such as its momentum.
  void mark();
  /// Sets the attribute `graph.updates` on ops that depend on no gradient. If
  /// this attribute of an op is @w, only the update of the weight w needs the
  /// op. An example of such an op is the product of w and the coefficient of
  /// weight decay. The op gets `graph.updates` = @w only if all ops that read
  /// its result have `graph.updates` = @w.
  void markOperands();

  mlir::func::FuncOp model;
  /// All ops `graph.set_parameter` that `model` contained when the constructor
  /// ran. Each of these ops writes a new value to a parameter.
  llvm::SmallVector<graph::SetParameterOp> sets;
  /// For each op that depends on gradients: the names of the weights of these
  /// gradients.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::StringAttr>> weights;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGINFOUPDATE_H
