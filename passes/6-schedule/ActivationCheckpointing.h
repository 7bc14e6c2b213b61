//===- ActivationCheckpointing.h - activation checkpointing of a stage ----===//
//
// Activation checkpointing (Chen et al. 2016): the backward pass of a stage
// recomputes some activations of the forward pass, which then occupy no memory
// between the two. The class below translates a stage function to the graph of
// the planner (plan/memory/Recompute.h), and applies the choice of the planner.
//
//===----------------------------------------------------------------------===//

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

/// The activations of one stage function, and the rewrite that recomputes some
/// of them in the backward pass. Usage: construct the object, let the planner
/// choose on stageGraph(), then call apply() once.
///
///   forward     w, x ── matmul ── gelu ──> ...
///   backward    reads x, matmul, gelu and dy
///   apply       keeps {matmul}: a clone of `gelu` stands before the first
///               reader in the backward pass; later readers use the same clone
///
/// Planner's graph:
///
/// - The values are results of forward ops. Results of reshapes are left out:
///   they share the bytes of their operands.
/// - Weights, constants and function arguments are left out: they are always
///   available.
/// - A gathered weight that must not stay in memory (FSDP) costs nothing to
///   recompute.
class ActivationCheckpointing {
public:
  /// Reads the function `stage`, which must outlive this object and must not
  /// change before apply().
  ///
  /// - `inFlight`: largest number of microbatches between their forward and
  ///   their backward pass.
  /// - `holdsWeights`: whether gathered weights may stay in memory from the
  ///   forward to the backward pass. If not, they are gathered again.
  /// - `cluster`: defines the price of communication; not copied.
  ActivationCheckpointing(mlir::func::FuncOp stage, int inFlight,
                          bool holdsWeights, const plan::Cluster &cluster);

  /// Returns the stage as a graph for the planner. The graph lives as long as
  /// this object.
  const plan::StageGraph &stageGraph() const { return graph; }

  /// Makes the backward pass recompute every activation that `chosen` does not
  /// keep. `chosen` is the planner's choice for the graph that stageGraph()
  /// returns. Inserts a clone of a forward op before the first backward op that
  /// reads its activation. Later readers share the clone. Returns the flops
  /// added per microbatch.
  double apply(const plan::Recomputation &chosen);

private:
  /// Adds `op`, an op of the forward pass, and its results to `graph`.
  void addForward(mlir::Operation *op);
  /// Records in `graph` which values `op` reads. `op` must be the last element
  /// of `backward`.
  void addReads(mlir::Operation *op);
  /// Sets `graph.backwardBytes`: for each backward op, the live bytes while it
  /// runs. Counts only values that the backward pass computes.
  void findBackwardBytes();
  /// Returns whether `value` depends only on weights and constants.
  bool dependsOnWeightsOnly(mlir::Value value) const;
  /// Returns whether `op` is cheap to repeat. `--recompute selective` repeats
  /// only cheap ops.
  bool isCheap(mlir::Operation *op) const;
  /// Returns the cost of repeating `op` in the backward pass, in flops.
  double priceOf(mlir::Operation *op) const;
  /// Returns the index of `value` in `graph.values`. A reshape has the index of
  /// the value that it reshapes. Returns -1 for a value that is not in the
  /// graph, such as a weight.
  int numberOf(mlir::Value value) const;

  /// Returns whether the backward pass can read `value` without recomputation:
  /// `value` is kept, or no forward op computes it.
  bool isAlwaysAvailable(mlir::Value value) const;
  /// Returns the value that the backward pass reads instead of the forward
  /// value `value`: its clone, or `value` itself if it is available. Inserts
  /// missing clones at `builder`.
  mlir::Value again(mlir::Value value, mlir::OpBuilder &builder);
  /// Returns the forward ops to clone in order to recompute `value`, in forward
  /// order. Ops that have a clone are left out.
  llvm::SmallVector<mlir::Operation *> opsToClone(mlir::Value value) const;
  /// Erases the forward ops without readers. Clones in the backward pass have
  /// taken over their readers.
  void eraseUnread();

  mlir::Block &body;
  bool holdsWeights;
  const plan::Cluster &cluster;
  plan::StageGraph graph;
  /// Ops of the backward pass in the order of execution.
  llvm::SmallVector<mlir::Operation *> backward;
  /// Index in `graph.values` of each value.
  llvm::DenseMap<mlir::Value, int> numbers;
  /// Forward ops, each with its index in the order of execution. Weights and
  /// constants are left out.
  llvm::MapVector<mlir::Operation *, int> order;
  /// Values that depend only on weights and constants.
  llvm::DenseSet<mlir::Value> weights;
  /// During apply(): whether each value of `graph.values` is kept.
  std::vector<bool> isKept;
  /// During apply(): maps forward values and ops to their clones.
  mlir::IRMapping made;
  /// During apply(): flops of the clones minus flops of the erased ops.
  double addedFlops = 0;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H
