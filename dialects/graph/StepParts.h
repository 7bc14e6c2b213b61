//===- StepParts.h - forward, backward and update parts of a step ---------===//

#ifndef PCC_DIALECTS_GRAPH_STEPPARTS_H
#define PCC_DIALECTS_GRAPH_STEPPARTS_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// Name of the parameter that counts the updates of the weights. A parameter is
/// a tensor that the program keeps from one training step to the next, such as
/// a weight. The counter has the element type i64. Optimizers and dropout read
/// the counter.
inline constexpr llvm::StringLiteral stepName = "pcc.step";

/// Returns whether the module that contains `op` has the attribute
/// `graph.reproducible`. The option --reproducible sets this attribute. With
/// the attribute, a sum over the batch must have the same bits, no matter how
/// the batch is divided among ranks.
bool isReproducible(mlir::Operation *op);

/// Part of a training step in which an op runs. The enumerators are in
/// execution order.
enum class StepPart : uint8_t {
  /// The forward pass, which is the first part of a training step. The forward
  /// pass runs once per microbatch.
  Forward,
  /// The backward pass, which is the second part of a training step. The
  /// backward pass runs once per microbatch and computes gradients. It begins
  /// with the op `graph.loss_gradient`. This op returns the gradient of the
  /// loss with respect to the loss, which is the number 1.
  Backward,
  /// The update of the weights, which runs once per step after all
  /// microbatches. It contains `graph.accumulate` (combines the gradients of
  /// all microbatches), all ops that depend on it, and `graph.set_parameter`
  /// (stores a weight).
  Update,
};

/// Assigns each op of a training step to one of three parts: the forward pass,
/// the backward pass or the update of the weights. A forward op moves to the
/// earliest part that reads its results, such as a dropout mask to the backward
/// pass. An op stays if `graph.accumulate` reads it, or if `mayWait` returns
/// false for it.
class StepParts {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;
  explicit StepParts(
      mlir::Block &block,
      Filter mayWait = [](mlir::Operation *) { return true; });

  /// Returns the part of the training step to which `op` is assigned. Returns
  /// Forward if `op` is not in the block that the constructor got.
  StepPart of(mlir::Operation *op) const { return parts.lookup(op); }
  /// Returns the part of the training step to which the op that defines `value`
  /// is assigned. Returns Forward if `value` is an argument of the function.
  StepPart of(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? of(op) : StepPart::Forward;
  }

private:
  StepPart partOfReader(mlir::Operation *reader) const;

  llvm::DenseMap<mlir::Operation *, StepPart> parts;
};

/// Returns whether the function body `block` is a training step: some op in it
/// writes a parameter (set_parameter).
bool isTraining(mlir::Block &block);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPPARTS_H
