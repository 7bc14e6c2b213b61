//===- StepParts.h - forward, backward and update parts of a step ---------===//

#ifndef PCC_DIALECTS_GRAPH_STEPPARTS_H
#define PCC_DIALECTS_GRAPH_STEPPARTS_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// Symbol of the i64 parameter that counts the updates of the weights.
/// Optimizers and dropout read it.
inline constexpr llvm::StringLiteral stepName = "pcc.step";

/// Returns whether the module that contains `op` has the attribute
/// `graph.reproducible`.
bool isReproducible(mlir::Operation *op);

/// Part of a training step in which an op runs. The enumerators are in
/// execution order.
enum class StepPart : uint8_t {
  /// Part of the ops that run once per microbatch, before the backward pass.
  Forward,
  /// Part of the ops that run once per microbatch and depend on
  /// `graph.loss_gradient`, where the backward pass begins.
  Backward,
  /// Part of the ops that run once per step, after all microbatches. Each
  /// writes a parameter or depends on `graph.accumulate` (the sum over
  /// microbatches).
  Update,
};

/// Assigns each op of a function body to the forward, backward or update part
/// of a training step. An op never runs in an earlier part than its operands.
///
/// A forward op moves to the part that reads its results first. For example, a
/// dropout mask for a gradient moves to the backward part. Ops for which
/// `mayWait` returns false do not move.
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
