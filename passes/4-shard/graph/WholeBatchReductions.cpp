//===- WholeBatchReductions.cpp - reductions over the whole batch ---------===//

#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/4-shard/graph/ShardedGraph.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

bool pcc::shard::seesWholeBatch(Operation *op) {
  return op && op->hasAttr(dist::oncePerStepName);
}

bool pcc::shard::isReadByWholeBatchOp(Value argument) {
  return llvm::any_of(argument.getUsers(), seesWholeBatch);
}

/// Returns whether the op `graph.ops[index]` reduces over the samples of the
/// batch. An example is an op that adds up a value of all samples. A factor is
/// a dim of the op, or part of a dim. The tag Batch marks the factors that
/// count samples. The function returns true if the op computes a reduction,
/// such as a sum, over a factor with this tag.
static bool reducesBatch(const ShardedGraph &graph, unsigned index) {
  return llvm::any_of(
      llvm::zip_equal(graph.tags[index], graph.ops[index].rule->factors),
      [](const auto &pair) {
        const auto &[tag, factor] = pair;
        return tag == FactorTag::Batch && isReduction(factor.kind);
      });
}

namespace {
/// Replaces reductions over the batch that depend only on inputs and constants.
/// An example is the number of labels by which a loss is divided. Each
/// reduction is replaced by a clone with a mark. The mark says that the clone
/// runs once for all microbatches. The clone reads the inputs of the whole
/// batch, and not of one microbatch only.
class WholeBatchSeparator {
public:
  explicit WholeBatchSeparator(const ShardedGraph &graph) : graph(graph) {}

  void run() {
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      Operation *op = graph.ops[i].op;
      if (!op || !dependsOnInputs(op))
        continue;
      ofInputs.insert(op);
      if (reducesBatch(graph, i))
        reductions.push_back(op);
    }
    for (Operation *op : reductions)
      op->replaceAllUsesWith(cloneWhole(op)->getResults());
  }

private:
  /// Returns whether `op` computes its results only from inputs of the model
  /// and from constants. Returns false in these cases:
  ///
  /// - `op` reads a weight, or an operand of `op` is computed from a weight.
  /// - `op` has side effects, or has no sharding rule.
  /// - `op` is a `graph.loss_gradient`, or an operand is computed from one.
  ///
  /// The function does not look at the operands of operands. Instead, it tests
  /// whether each operand is a function argument or the result of an op in the
  /// set `ofInputs`. The caller must therefore call the function for all ops in
  /// program order. If the function returns true for an op, the caller must add
  /// the op to `ofInputs`.
  bool dependsOnInputs(Operation *op) const {
    return isa<graph::ShardingRuleOpInterface>(op) && isPure(op) &&
           !isa<graph::GetParameterOp, graph::LossGradientOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *maker = operand.getDefiningOp();
             return !maker || ofInputs.contains(maker);
           });
  }

  /// Returns a clone of `op` that runs once for all microbatches and reads the
  /// whole batch. The attribute `dist.once_per_step` marks the clone. Also
  /// clones the ops that compute the operands of `op`, and marks these clones
  /// in the same way. If `op` has been cloned before, returns the clone that
  /// exists already.
  Operation *cloneWhole(Operation *op) {
    if (Operation *known = clones.lookup(op))
      return known;
    IRMapping map;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        map.map(maker->getResults(), cloneWhole(maker)->getResults());
    Operation *clone = OpBuilder(op).clone(*op, map);
    clone->setAttr(dist::oncePerStepName, UnitAttr::get(op->getContext()));
    return clones[op] = clone;
  }

  const ShardedGraph &graph;
  /// Ops visited so far that depend only on inputs and constants.
  DenseSet<Operation *> ofInputs;
  /// Ops that reduce the batch and depend only on inputs and constants, in
  /// program order.
  SmallVector<Operation *> reductions;
  /// Maps an op to its clone. The clone runs once for all microbatches.
  /// Contains each op for which the function cloneWhole has created a clone.
  DenseMap<Operation *, Operation *> clones;
};
} // namespace

/// Erases the pure ops whose results have no uses. Goes from the last op to the
/// first, so that ops used only by erased ops are erased, too.
static void eraseDead(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isPure(op) && op->getNumResults() > 0)
      op->erase();
}

void pcc::shard::separateWholeBatchReductions(func::FuncOp function,
                                              const Seeds &seeds) {
  // `graph` refers to ops that eraseDead erases. Therefore `graph` must be
  // destroyed before eraseDead runs.
  {
    ShardedGraph graph(function, seeds);
    graph.refine();
    WholeBatchSeparator(graph).run();
  }
  eraseDead(function);
}

void pcc::shard::eraseWholeBatchMarks(func::FuncOp function) {
  for (Operation &op : function.front())
    op.removeAttr(dist::oncePerStepName);
}
