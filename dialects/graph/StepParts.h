//===- StepParts.h - forward, backward and update parts of a step ---------===//

#ifndef PCC_DIALECTS_GRAPH_STEPPARTS_H
#define PCC_DIALECTS_GRAPH_STEPPARTS_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// Symbol of the parameter, an i64, that counts the steps which have changed
/// the weights. Optimizers read it, and so does dropout, whose mask depends on
/// the step.
inline constexpr llvm::StringLiteral stepName = "pcc.step";

/// Returns whether the module around `op` has `graph.reproducible`.
bool isReproducible(mlir::Operation *op);

/// The part of a training step in which an op runs. The enumerators are in the
/// order in which the parts run.
enum class StepPart : uint8_t {
  /// Ops that run once per microbatch and depend neither on
  /// `graph.loss_gradient` nor on `graph.accumulate`.
  Forward,
  /// Ops that run once per microbatch and depend on `graph.loss_gradient`.
  Backward,
  /// Ops that run once per step, after all microbatches. Each of them writes a
  /// parameter or depends on `graph.accumulate`.
  Update,
};

/// Assigns each op of a function body to the forward, backward or update part
/// of a step, according to its operands. In a training step, a forward op whose
/// results only later parts read is delayed to the earliest part that reads
/// them. For example, a dropout mask that only a gradient reads moves to the
/// backward part, and a learning rate to the update. Forward ops for which
/// `mayWait` returns false are not delayed.
class StepParts {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;
  explicit StepParts(
      mlir::Block &block,
      Filter mayWait = [](mlir::Operation *) { return true; });

  /// Returns the part of an op of the block; Forward if the op is not in the
  /// block.
  StepPart of(mlir::Operation *op) const { return parts.lookup(op); }
  /// Returns the part of the op that defines `value`; Forward for an argument.
  StepPart of(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? of(op) : StepPart::Forward;
  }

private:
  StepPart partOfReader(mlir::Operation *reader) const;

  llvm::DenseMap<mlir::Operation *, StepPart> parts;
};

/// Returns whether `block`, a function body, is a training step: whether it
/// contains an op that writes a parameter (set_parameter).
bool isTraining(mlir::Block &block);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPPARTS_H
