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

/// The activations of one stage function whose ops are divided into forward,
/// backward and update parts (`pipe.part`). Use: construct, let the planner
/// choose on stageGraph(), then apply() once. The graph of the planner:
///  - A value is the result of a forward op other than a reshape. A reshape
///    shares the bytes of its operand.
///  - Results of ops without operands (weights, constants) and function
///    arguments are always available and are no values of the graph.
///  - A gathered weight that the rank must not hold whole (FSDP) has price 0,
///    so that every mode gathers it again in the backward pass.
///
///   forward     w, x ── matmul ── gelu ──> ...
///   backward    reads x, matmul, gelu and dy
///   apply       keeps {matmul}: a clone of `gelu` stands before the first
///               reader in the backward pass; later readers use the same clone
class ActivationCheckpointing {
public:
  /// Reads `stage`, which must outlive this object and must not be changed by
  /// others before apply(). `inFlight` is the largest number of microbatches
  /// between F and B. `holdsWeights` tells whether gathered weights may stay
  /// whole from F to B. `cluster`, which is not copied, prices communication.
  ActivationCheckpointing(mlir::func::FuncOp stage, int inFlight,
                          bool holdsWeights, const plan::Cluster &cluster);

  /// Returns the stage as the planner sees it, valid as long as this object.
  const plan::StageGraph &stageGraph() const { return graph; }

  /// Makes the backward pass recompute every value that `chosen` does not keep.
  /// A clone of a forward op stands right before the first backward op that
  /// needs it, and serves all later ones. Forward ops that only the backward
  /// pass read are erased. `chosen` must come from stageGraph(). Returns the
  /// flops that this adds to one microbatch.
  double apply(const plan::Recomputation &chosen);

private:
  /// Adds an op of the forward pass, and its results, to `graph`.
  void addForward(mlir::Operation *op);
  /// Records that a backward op, the last of `backward`, reads its operands.
  void addReads(mlir::Operation *op);
  /// Fills `graph.backwardBytes`: the live bytes of values of the backward pass
  /// at each of its ops.
  void findBackwardBytes();
  /// Returns whether `value` depends on weights and constants only, and is thus
  /// equal in every microbatch.
  bool dependsOnWeightsOnly(mlir::Value value) const;
  /// Returns whether the selective mode may run `op` again.
  bool isCheap(mlir::Operation *op) const;
  /// Returns the price of running `op` again, in flops.
  double priceOf(mlir::Operation *op) const;
  /// Returns the index in `graph.values` of the value that holds the bytes of
  /// `value`, looking through reshapes; -1 if it is always available.
  int numberOf(mlir::Value value) const;

  /// Returns whether the backward pass can read `value` as it is: it is kept,
  /// or no forward op defines it.
  bool isAlwaysAvailable(mlir::Value value) const;
  /// Returns the value that the backward pass reads in place of `value`: itself
  /// or its clone. Missing clones are inserted at `builder`.
  mlir::Value again(mlir::Value value, mlir::OpBuilder &builder);
  /// Returns the forward ops that must be cloned to recompute `value`, in the
  /// order of the forward pass. Ops that have a clone are left out.
  llvm::SmallVector<mlir::Operation *> opsToClone(mlir::Value value) const;
  /// Erases the forward ops that lost all their readers to clones.
  void eraseUnread();

  /// Body of the stage function.
  mlir::Block &body;
  bool holdsWeights;
  const plan::Cluster &cluster;
  plan::StageGraph graph;
  /// Ops of the backward pass in the order of execution.
  llvm::SmallVector<mlir::Operation *> backward;
  /// Indices of values in `graph.values`.
  llvm::DenseMap<mlir::Value, int> numbers;
  /// Forward ops that are not sources, with their places in the order of
  /// execution.
  llvm::MapVector<mlir::Operation *, int> order;
  /// Values that depend on weights and constants only.
  llvm::DenseSet<mlir::Value> weights;
  /// During apply(): by value of `graph`, whether it is kept.
  std::vector<bool> isKept;
  /// During apply(): forward values and ops with their clones.
  mlir::IRMapping made;
  /// During apply(): flops of the clones less flops of erased ops.
  double addedFlops = 0;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H
