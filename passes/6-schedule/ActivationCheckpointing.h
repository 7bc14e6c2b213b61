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

/// Makes the backward pass of one pipeline stage recompute some activations,
/// which then need no memory between the forward and the backward pass. The
/// caller gets the graph of the stage from stageGraph(). The planner
/// (passes/plan/memory/Recompute.h) chooses from this graph the values to keep.
/// The caller then passes the choice to apply(), which must be called once.
class ActivationCheckpointing {
public:
  /// Reads the function of one pipeline stage. `stage` must not change before
  /// apply(). `stage` and `cluster` must outlive this object. `inFlight` is the
  /// largest number of microbatches in flight. `holdsWeights` allows gathered
  /// weights to stay in memory until the backward pass.
  ActivationCheckpointing(mlir::func::FuncOp stage, int inFlight,
                          bool holdsWeights, const plan::Cluster &cluster);

  /// Returns the graph of the forward and backward pass of the stage, for one
  /// microbatch. From this graph, the planner chooses which values of the
  /// forward pass stay in memory until the backward pass. The graph lives as
  /// long as this object.
  const plan::StageGraph &stageGraph() const { return graph; }

  /// Makes the backward pass recompute every activation that `chosen`, the
  /// planner's result for stageGraph(), does not keep. Inserts a clone of a
  /// forward op before the first backward op that reads its activation. Later
  /// readers share the clone. Returns the flops added per microbatch.
  double apply(const plan::Recomputation &chosen);

private:
  /// Adds `op`, an op of the forward pass, and its results to `graph`.
  void addForward(mlir::Operation *op);
  /// Records in `graph` which forward values `op`, an op of the backward pass,
  /// reads. For each forward value, `graph` has the first and the last backward
  /// op that reads it, as indices into `backward`. The caller must append `op`
  /// to `backward` before. Ignores operands that are not in `graph`, such as
  /// weights.
  void addReads(mlir::Operation *op);
  /// Computes the memory that the values of the backward pass need, such as
  /// gradients, and stores it in `graph.backwardBytes`. Element i is the number
  /// of bytes while op i of the backward pass runs. A value counts from the op
  /// that computes it to the last op that reads it.
  void findBackwardBytes();
  /// Returns whether `value` depends only on weights and constants.
  bool dependsOnWeightsOnly(mlir::Value value) const;
  /// Returns whether the backward pass can run `op`, a forward op, a second
  /// time at a low cost. Examples are gelu and softmax. A matmul by a weight is
  /// not cheap. With the option `--recompute selective`, the backward pass
  /// recomputes only results of ops for which this function returns true.
  bool isCheap(mlir::Operation *op) const;
  /// Returns the cost of repeating `op` in the backward pass, in flops.
  double priceOf(mlir::Operation *op) const;
  /// Returns the index of `value` in `graph.values`, the list of the results of
  /// the forward ops. For the result of a reshape, this is the index of the
  /// operand, because the two share memory. Returns -1 if the list does not
  /// contain `value`, for example if `value` is a weight.
  int numberOf(mlir::Value value) const;

  /// Returns whether the backward pass can read `value` without a clone of a
  /// forward op. True for activations that stay in memory, and for values that
  /// no forward op computes, such as weights. False for the result of a forward
  /// reshape, because the backward pass gets a clone of the reshape.
  bool isAlwaysAvailable(mlir::Value value) const;
  /// Returns the value that a backward op must read instead of `value`. If
  /// `value` stays in memory until the backward pass, or if no forward op
  /// computes it, returns `value`. Otherwise returns the result of a clone: a
  /// copy of the forward op that computes `value`, which runs in the backward
  /// pass. If this clone does not exist yet, `builder` inserts it, together
  /// with the clones of forward ops that it needs.
  mlir::Value again(mlir::Value value, mlir::OpBuilder &builder);
  /// Returns the forward ops that the backward pass must run again to compute
  /// `value`, in forward order. Leaves out ops that already have a clone in the
  /// backward pass.
  llvm::SmallVector<mlir::Operation *> opsToClone(mlir::Value value) const;
  /// Erases each pure forward op whose results no op reads any more. A forward
  /// op loses its readers if backward ops read the results of a clone of the op
  /// instead. Example: only the backward op c reads the forward op b. apply()
  /// inserts b', a clone of b in the backward pass, and makes c read b'. No op
  /// reads b then, so this function erases b.
  void eraseUnread();

  mlir::Block &body;
  bool holdsWeights;
  const plan::Cluster &cluster;
  plan::StageGraph graph;
  /// Ops of the backward pass in the order of execution.
  llvm::SmallVector<mlir::Operation *> backward;
  /// Map from a value of the forward pass to its index in `graph.values`. The
  /// map has no weights, constants and function arguments, because these always
  /// stay in memory. It has no results of reshapes, because a reshape shares
  /// the memory of its operand.
  llvm::DenseMap<mlir::Value, int> numbers;
  /// Forward ops, each with its index in the order of execution. Weights and
  /// constants are left out.
  llvm::MapVector<mlir::Operation *, int> order;
  /// Values that depend only on weights and constants.
  llvm::DenseSet<mlir::Value> weights;
  /// During apply(): a flag for each value of `graph.values`. The flag is true
  /// if the value stays in memory from the forward to the backward pass.
  std::vector<bool> isKept;
  /// During apply(): maps forward values and ops to their clones.
  mlir::IRMapping made;
  /// Number of flops that apply() adds to the work for one microbatch. apply()
  /// adds the flops of each clone that it inserts in the backward pass. It
  /// subtracts the flops of each forward op that it erases because no op reads
  /// the result any more.
  double addedFlops = 0;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_ACTIVATIONCHECKPOINTING_H
