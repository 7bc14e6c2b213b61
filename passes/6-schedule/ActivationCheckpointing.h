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

/// The activations of one stage function, and the rewrite by which the backward
/// pass recomputes some of them. The ops of the function have been divided into
/// forward, backward and update parts (`pipe.part`). Usage: construct the
/// object, let the planner choose on stageGraph(), then call apply() once. In
/// the planner's graph:
///
/// - A value is the result of a forward op. The result of a reshape is no
///   value, because it shares the bytes of its operand.
/// - Weights, constants and function arguments are always available, so they
///   are no values either.
/// - A gathered weight that the rank must not hold whole (FSDP) has price 0, so
///   that every mode gathers it again in the backward pass.
///
///   forward     w, x ── matmul ── gelu ──> ...
///   backward    reads x, matmul, gelu and dy
///   apply       keeps {matmul}: a clone of `gelu` stands before the first
///               reader in the backward pass; later readers use the same clone
class ActivationCheckpointing {
public:
  /// Reads the function `stage`. It must outlive this object and must not be
  /// changed before apply().
  ///
  /// - `inFlight`: largest number of microbatches that have run their forward
  ///   pass (F) but not yet their backward pass (B).
  /// - `holdsWeights`: whether gathered weights may stay in memory from F to B.
  ///   If not, they are gathered again in B.
  /// - `cluster`: defines the price of communication; not copied.
  ActivationCheckpointing(mlir::func::FuncOp stage, int inFlight,
                          bool holdsWeights, const plan::Cluster &cluster);

  /// Returns the stage in the form that the planner reads. The graph lives as
  /// long as this object.
  const plan::StageGraph &stageGraph() const { return graph; }

  /// Makes the backward pass recompute every activation that `chosen` does not
  /// keep. A clone of the forward op is inserted right before the first
  /// backward op that needs the activation. Later backward ops read the same
  /// clone. Forward ops that only the backward pass read are erased. `chosen`
  /// must be the planner's choice for stageGraph(). Returns the flops added per
  /// microbatch.
  double apply(const plan::Recomputation &chosen);

private:
  /// Adds `op`, an op of the forward pass, and its results to `graph`.
  void addForward(mlir::Operation *op);
  /// Records in `graph` which values `op` reads. `op` is the op of the backward
  /// pass that was added last to `backward`.
  void addReads(mlir::Operation *op);
  /// Sets `graph.backwardBytes`: for each op of the backward pass, the bytes
  /// that are live while the op runs. Only values that the backward pass
  /// computes are counted.
  void findBackwardBytes();
  /// Returns whether `value` depends on weights and constants only, so that it
  /// is the same in every microbatch.
  bool dependsOnWeightsOnly(mlir::Value value) const;
  /// Returns whether `op` is cheap to repeat. With `--recompute selective`, the
  /// backward pass repeats the ops that are cheap.
  bool isCheap(mlir::Operation *op) const;
  /// Returns the cost of repeating `op` in the backward pass, in flops.
  double priceOf(mlir::Operation *op) const;
  /// Returns the index of `value` in `graph.values`. If reshapes compute
  /// `value`, returns the index of the value that is reshaped. Returns -1 if
  /// the value is not in `graph.values` because it is always available.
  int numberOf(mlir::Value value) const;

  /// Returns whether the backward pass can read `value` without recomputation:
  /// `value` is kept, or no forward op computes it.
  bool isAlwaysAvailable(mlir::Value value) const;
  /// Returns the value that the backward pass reads for the forward value
  /// `value`: `value` itself if it is always available, otherwise its clone.
  /// Inserts missing clones at `builder`.
  mlir::Value again(mlir::Value value, mlir::OpBuilder &builder);
  /// Returns the forward ops that must be cloned to recompute `value`, in the
  /// order of the forward pass. Ops that already have a clone are not included.
  llvm::SmallVector<mlir::Operation *> opsToClone(mlir::Value value) const;
  /// Erases the forward ops without readers. After apply() has inserted clones,
  /// the backward pass reads the clones, so some forward ops are not read.
  void eraseUnread();

  /// Body of the stage function.
  mlir::Block &body;
  bool holdsWeights;
  const plan::Cluster &cluster;
  plan::StageGraph graph;
  /// Ops of the backward pass in the order of execution.
  llvm::SmallVector<mlir::Operation *> backward;
  /// Index in `graph.values` of each value.
  llvm::DenseMap<mlir::Value, int> numbers;
  /// Forward ops, each with its index in the order of execution. Sources, which
  /// are ops without operands such as weights and constants, are not included.
  llvm::MapVector<mlir::Operation *, int> order;
  /// Values that depend on weights and constants only.
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
