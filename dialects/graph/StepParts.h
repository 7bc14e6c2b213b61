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
  /// The update of the weights, which is the last part of a training step. The
  /// update runs once per step, after all microbatches. These ops belong to the
  /// update:
  ///
  ///  - `graph.accumulate`, which combines the gradients of all microbatches
  ///  - all ops that depend on `graph.accumulate`, such as optimizer ops
  ///  - `graph.set_parameter`, which stores the new elements of a weight
  Update,
};

/// Assigns each op of a training step to one part: the forward pass, the
/// backward pass or the update of the weights. The parts run in this order. An
/// op never runs in an earlier part than the ops that compute its operands.
///
/// If only later parts read the results of a forward op, the op moves to the
/// first of these parts. For example, a dropout mask that only gradients read
/// moves to the backward pass. An op does not move if `graph.accumulate` reads
/// a result of it, or if `mayWait` returns false for it.
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
