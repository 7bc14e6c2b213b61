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

/// Completes the weight update of a model with an ONNX TrainingInfo. A
/// TrainingInfo is a part of an ONNX model. It computes new weights from
/// gradients. Phase 1-import translates the TrainingInfo into ops of @main.
/// Where these ops need the gradient of a weight, they read a placeholder. This
/// class replaces each placeholder by the gradient that the backward pass
/// computes. The class then sets two attributes. The value of both attributes
/// is the name of a weight:
///
///   attribute       set on
///   graph.updates   each op that only the update of this weight needs
///   state_of        each parameter that holds optimizer state of this weight
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

  /// Replaces placeholders by gradients. A placeholder is an op
  /// `graph.loss_gradient` whose attribute `graph.gradient_of` names a weight.
  /// The map `gradients` gives the gradient of each weight by the name of the
  /// weight. A gradient in the map is a sum over all microbatches. If a weight
  /// is missing in the map, its gradient is zero. `builder` builds this zero.
  ///
  /// Afterwards, the function sorts the ops topologically. Then it sets two
  /// attributes to the name of a weight:
  ///
  ///   graph.updates   on ops that only the update of this weight needs
  ///   state_of        on parameters that hold optimizer state of this weight
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
