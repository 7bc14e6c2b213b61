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

/// The part of a training step in which an op runs; parts run in this order.
enum class StepPart : uint8_t {
  /// Runs once per microbatch.
  Forward,
  /// Runs once per microbatch; depends on `graph.loss_gradient`.
  Backward,
  /// Runs once per step, after all microbatches: writes a parameter or depends
  /// on `graph.accumulate`.
  Update,
};

/// Assigns the ops of a function to the parts of a step by their data
/// dependences. When training, a forward op that only later parts read is
/// delayed to the earliest of these parts: a mask that only a gradient needs,
/// a learning rate. Forward ops for which `mayWait` is false are not delayed.
class StepParts {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;
  explicit StepParts(
      mlir::Block &block,
      Filter mayWait = [](mlir::Operation *) { return true; });

  /// Returns the part of an op of the block; Forward for any other op.
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

/// Returns whether a function body is a training step: it writes parameters.
bool isTraining(mlir::Block &block);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPPARTS_H
