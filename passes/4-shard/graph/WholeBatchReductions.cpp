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
/// batch, for example by a sum.
static bool reducesBatch(const ShardedGraph &graph, unsigned index) {
  return llvm::any_of(
      llvm::zip_equal(graph.tags[index], graph.ops[index].rule->factors),
      [](const auto &pair) {
        const auto &[tag, factor] = pair;
        return tag == FactorTag::Batch && isReduction(factor.kind);
      });
}

namespace {
/// Replaces reductions over the batch that depend only on inputs and constants,
/// such as the number of labels in a loss. Each replacement is a clone that
/// reads the whole batch and runs once for all microbatches.
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
  /// Returns whether `op` computes its results only from model inputs and
  /// constants. `ofInputs` must contain each op before `op` in program order
  /// for which the result is true.
  bool dependsOnInputs(Operation *op) const {
    return isa<graph::ShardingRuleOpInterface>(op) && isPure(op) &&
           !isa<graph::GetParameterOp, graph::LossGradientOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *maker = operand.getDefiningOp();
             return !maker || ofInputs.contains(maker);
           });
  }

  /// Clones `op` and all ops that compute its operands, each of them only once.
  /// `dist.once_per_step` marks the clones: they run once for all microbatches.
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
