//===- WholeBatchReductions.cpp - what is computed of the inputs of a whole step ===//

#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/4-shard/graph/ShardedGraph.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// On ops while shardings are decided.
static constexpr llvm::StringLiteral oncePerStepName = "dist.once_per_step";

bool pcc::shard::seesWholeBatch(Operation *op) {
  return op && op->hasAttr(oncePerStepName);
}

bool pcc::shard::isReadByWholeBatchOp(Value argument) {
  return llvm::any_of(argument.getUsers(), seesWholeBatch);
}

static bool reducesBatch(const ShardedGraph &graph, unsigned index) {
  return llvm::any_of(
      llvm::zip_equal(graph.tags[index], graph.ops[index].rule->factors),
      [](const auto &pair) {
        const auto &[tag, factor] = pair;
        return tag == FactorTag::Batch && isReduction(factor.kind);
      });
}

namespace {
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
  bool dependsOnInputs(Operation *op) const {
    return isa<graph::ShardingRuleOpInterface>(op) && isPure(op) &&
           !isa<graph::GetParameterOp, graph::LossGradientOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *maker = operand.getDefiningOp();
             return !maker || ofInputs.contains(maker);
           });
  }

  /// A copy of `op` and of all that it depends on, each once.
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
  DenseSet<Operation *> ofInputs;
  SmallVector<Operation *> reductions;
  DenseMap<Operation *, Operation *> clones;
};
} // namespace

/// Ops of which nobody reads a result any more.
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
