//===- StepParts.h - forward, backward and update of a step ---------------===//

#ifndef PCC_DIALECTS_GRAPH_STEPPARTS_H
#define PCC_DIALECTS_GRAPH_STEPPARTS_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// On an op of the forward pass, between 2-prepare and 3-place: its number.
inline constexpr llvm::StringLiteral numberName = "graph.number";
/// On an op of the backward pass: the number of the op whose gradient it is
/// part of, and on whose stage it is.
inline constexpr llvm::StringLiteral mirrorsName = "graph.mirrors";
/// On an op of the update: the weight that it makes, or whose gradient it
/// weighs. Without it the op is of all weights.
inline constexpr llvm::StringLiteral updatesName = "graph.updates";

/// On the module: sums over the batch, and the norm of gradients, have bits
/// that do not depend on how the batch and what is stored are divided.
inline constexpr llvm::StringLiteral reproducibleName = "graph.reproducible";
/// Whether the module around `op` asks for that.
bool isReproducible(mlir::Operation *op);

/// When an op of a step of training runs, in this order.
enum class StepPart : uint8_t {
  Forward,  ///< once per microbatch
  Backward, ///< once per microbatch: it depends on graph.loss_gradient
  Update,   ///< once per step: it depends on graph.accumulate
};

/// The parts of a function's ops, which follow from who depends on whom. Of the
/// forward pass, what only later parts read waits for them: a mask that only a
/// gradient needs, a learning rate. Ops that `mayWait` refuses do not wait.
class StepParts {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;
  explicit StepParts(
      mlir::Block &block,
      Filter mayWait = [](mlir::Operation *) { return true; });

  StepPart of(mlir::Operation *op) const { return parts.lookup(op); }
  StepPart of(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? of(op) : StepPart::Forward;
  }

private:
  StepPart partOfReader(mlir::Operation *reader) const;

  llvm::DenseMap<mlir::Operation *, StepPart> parts;
};

/// Whether a function trains: it writes weights.
bool isTraining(mlir::Block &block);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPPARTS_H
