//===- ActivationCheckpointing.h - what a stage's backward pass reads of F ===//

#ifndef PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H
#define PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/plan/cluster/Cluster.h"
#include "passes/plan/memory/Recompute.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace pcc::schedule {

/// The activations of a stage that trains, whose ops have parts
/// (`pipe.part`). A reshape is its operand: it takes no room. What is made of
/// nothing (weights, constants) is always there, as are arguments. Weights that
/// a rank must not hold whole are gathered again in any mode.
class ActivationCheckpointing {
public:
  /// `holdsWeights`: weights that are stored in parts may be kept whole.
  ActivationCheckpointing(mlir::func::FuncOp stage, int inFlight,
                          bool holdsWeights, const plan::Cluster &cluster);

  /// False if nothing is kept, as where there is no backward pass.
  bool hasAny() const { return !graph.backwardBytes.empty(); }
  const plan::StageGraph &stageGraph() const { return graph; }

  /// Lets the backward pass make what is not kept: clones stand right before
  /// the first op that needs them, and all that come later use the same.
  /// Returns the floating-point operations of one microbatch that it costs.
  double apply(const plan::Recomputation &chosen);

private:
  void addForward(mlir::Operation *op);
  void addReads(mlir::Operation *op);
  void findBackwardBytes();
  /// What is the same in every microbatch.
  bool dependsOnWeightsOnly(mlir::Value value) const;
  bool isCheap(mlir::Operation *op) const;
  /// Of running it once more, in flops.
  double priceOf(mlir::Operation *op) const;
  /// The number of the value that has the bytes; -1 if they are always there.
  int numberOf(mlir::Value value) const;

  bool isAlwaysAvailable(mlir::Value value) const;
  mlir::Value again(mlir::Value value, mlir::OpBuilder &builder);
  llvm::SmallVector<mlir::Operation *> opsToClone(mlir::Value value) const;
  void eraseUnread();

  mlir::Block &body;
  bool holdsWeights;
  const plan::Cluster &cluster;
  plan::StageGraph graph;
  llvm::SmallVector<mlir::Operation *> backward;
  llvm::DenseMap<mlir::Value, int> numbers;
  /// Ops of the forward pass in the order in which they run.
  llvm::MapVector<mlir::Operation *, int> order;
  llvm::DenseSet<mlir::Value> weights;
  /// What is kept, and what has been made again.
  std::vector<bool> isKept;
  mlir::IRMapping made;
  double addedFlops = 0;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H
