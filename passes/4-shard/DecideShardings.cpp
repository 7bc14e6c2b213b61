//===- DecideShardings.cpp - give every value a sharding ------------------===//

#include "passes/4-shard/AxisSearch.h"
#include "passes/4-shard/Notes.h"
#include "passes/4-shard/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

namespace pcc::shard {
#define GEN_PASS_DEF_DECIDESHARDINGS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// `axis` in prime parts, major first: 12 → (1)2, (2)2, (4)3.
static dist::SubAxes primeParts(const dist::Axis &axis) {
  dist::SubAxes parts;
  int64_t rest = axis.size, before = 1;
  for (int64_t prime = 2; rest > 1; ++prime)
    for (; rest % prime == 0; rest /= prime, before *= prime)
      parts.push_back({axis.name, before, prime});
  return parts;
}

/// Writes what was decided into the IR.
static void annotate(ShardedGraph &graph) {
  func::FuncOp function = graph.function;
  MLIRContext *context = function.getContext();
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const ShardedOp &op = graph.ops[i];
    if (graph.isSink(i)) {
      function.setResultAttr(
          graph.sinkIndex(i), dist::shardingName,
          dist::ShardingAttr::get(context, op.operandSharding(0)));
      continue;
    }
    for (unsigned result = 0; result < op.rule->results.size(); ++result)
      dist::setSharding(graph.valueOf(i, result), op.resultSharding(result));
    if (!op.op)
      continue;
    op.op->setAttr(splitName, dist::ShardingAttr::get(context, op.split()));
    if (!op.through.empty())
      op.op->setAttr(throughName, DenseI64ArrayAttr::get(
                                      context, SmallVector<int64_t>(
                                                   op.throughOperand.begin(),
                                                   op.throughOperand.end())));
  }
}

namespace {
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    ShardedGraph graph(getOperation());
    auto seeds = Seeds::resolve(graph, mesh);
    if (failed(seeds))
      return signalPassFailure();
    // What the user pinned has the factors that the user wrote.
    graph.refine(seeds->pinned());
    plan::ReshardPlanner planner(mesh);
    for (const dist::Axis &axis : mesh.axes) {
      dist::SubAxes parts = primeParts(axis);
      if (parts.empty())
        continue;
      LDBG() << "handing out " << axis.name;
      if (failed(assignAxis(graph, parts, roleOf(axis.name), *seeds, planner)))
        return signalPassFailure();
      numAxes += parts.size();
    }
    for (const dist::Axis &axis : mesh.axes)
      if (axis.size > 1 && roleOf(axis.name) == AxisRole::Tensor)
        noteWholeWeights(graph, axis);
    for (const ShardedOp &op : graph.ops)
      numSplit += llvm::any_of(
          op.axes, [](const dist::SubAxes &axes) { return !axes.empty(); });
    annotate(graph);
  }
};
} // namespace
