//===- StepParts.h - forward, backward and update parts of a step ---------===//

#ifndef PCC_DIALECTS_GRAPH_STEPPARTS_H
#define PCC_DIALECTS_GRAPH_STEPPARTS_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace pcc::graph {

/// IntegerAttr (i64) on a forward op that has a gradient, between `2-prepare`
/// and `3-place`: a number by which its backward ops name it.
inline constexpr llvm::StringLiteral numberName = "graph.number";
/// IntegerAttr (i64) on a backward op: the `graph.number` of the forward op
/// whose gradient it belongs to. `3-place` puts both on the same stage.
inline constexpr llvm::StringLiteral mirrorsName = "graph.mirrors";
/// FlatSymbolRefAttr on an op of the update: the weight that the op updates or
/// whose gradient it processes. Absent if the op concerns all weights, such as
/// the global gradient norm.
inline constexpr llvm::StringLiteral updatesName = "graph.updates";

/// UnitAttr on the module: sums over the batch and norms of gradients must be
/// bitwise equal however the batch and the stored weights are divided.
inline constexpr llvm::StringLiteral reproducibleName = "graph.reproducible";
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
