//===- WholeBatchReductions.cpp - reductions over the whole batch ---------===//

#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/4-shard/graph/ShardedGraph.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Name of the attribute that marks the clones while shardings are decided.
static constexpr llvm::StringLiteral oncePerStepName = "dist.once_per_step";

bool pcc::shard::seesWholeBatch(Operation *op) {
  return op && op->hasAttr(oncePerStepName);
}

bool pcc::shard::isReadByWholeBatchOp(Value argument) {
  return llvm::any_of(argument.getUsers(), seesWholeBatch);
}

/// Returns whether vertex `index` reduces a factor of the batch.
static bool reducesBatch(const ShardedGraph &graph, unsigned index) {
  return llvm::any_of(
      llvm::zip_equal(graph.tags[index], graph.ops[index].rule->factors),
      [](const auto &pair) {
        const auto &[tag, factor] = pair;
        return tag == FactorTag::Batch && isReduction(factor.kind);
      });
}

namespace {
/// Replaces reductions over the batch by clones that see whole inputs.
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
  /// Returns whether `op` depends on inputs and constants alone. Relies on the
  /// ops before `op` having been visited.
  bool dependsOnInputs(Operation *op) const {
    return isa<graph::ShardingRuleOpInterface>(op) && isPure(op) &&
           !isa<graph::GetParameterOp, graph::LossGradientOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *maker = operand.getDefiningOp();
             return !maker || ofInputs.contains(maker);
           });
  }

  /// Returns a marked clone of `op`, whose operands are clones as well. Every
  /// op is cloned once at most.
  Operation *cloneWhole(Operation *op) {
    if (Operation *known = clones.lookup(op))
      return known;
    IRMapping map;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        map.map(maker->getResults(), cloneWhole(maker)->getResults());
    Operation *clone = OpBuilder(op).clone(*op, map);
    clone->setAttr(oncePerStepName, UnitAttr::get(op->getContext()));
    return clones[op] = clone;
  }

  const ShardedGraph &graph;
  /// Visited ops that depend on inputs and constants alone.
  DenseSet<Operation *> ofInputs;
  /// Ops of `ofInputs` that reduce the batch.
  SmallVector<Operation *> reductions;
  /// Per cloned op: its clone.
  DenseMap<Operation *, Operation *> clones;
};
} // namespace

/// Erases pure ops whose results have no uses, last op first.
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
  // The graph refers to ops that eraseDead erases, so it must go first.
  {
    ShardedGraph graph(function, seeds);
    graph.refine();
    WholeBatchSeparator(graph).run();
  }
  eraseDead(function);
}

void pcc::shard::eraseWholeBatchMarks(func::FuncOp function) {
  for (Operation &op : function.front())
    op.removeAttr(oncePerStepName);
}
