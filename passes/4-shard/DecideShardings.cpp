//===- DecideShardings.cpp - give every value a sharding ------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/AxisSearch.h"
#include "passes/4-shard/Notes.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/Recorded.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

namespace pcc::shard {
#define GEN_PASS_DEF_DECIDESHARDINGS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Gives all users of `value` a copy that lies as `sharding` and has its name,
/// if it does not lie like this itself.
static void pin(Value value, const dist::Sharding &sharding) {
  dist::ShardingAttr from = dist::shardingOf(value);
  if (dist::samePlacement(from.getSharding(), sharding))
    return;
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto reshard = dist::ReshardOp::create(
      builder, op->getLoc(), value.getType(), value, from,
      dist::ShardingAttr::get(op->getContext(), sharding), DenseI64ArrayAttr());
  value.replaceAllUsesExcept(reshard, reshard);
  dist::setSharding(reshard, sharding);
  if (Attribute stage = op->getAttr(pipe::stageName))
    reshard->setAttr(pipe::stageName, stage);
  if (Attribute name = op->removeAttr("graph.name"))
    reshard->setAttr("graph.name", name);
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
    if (op.op)
      record(op);
    else if (graph.isPinOfValue(i))
      pin(graph.valueOf(i, 0), op.resultSharding(0));
    else
      dist::setSharding(graph.valueOf(i, 0), op.resultSharding(0));
  }
}

namespace {
struct DecideShardings
    : pcc::shard::impl::DecideShardingsBase<DecideShardings> {
  void runOnOperation() override {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    auto seeds = Seeds::resolve(getOperation(), mesh);
    if (failed(seeds))
      return signalPassFailure();
    ShardedGraph graph(getOperation(), *seeds);
    graph.refine();
    plan::ReshardPlanner planner(mesh);
    for (const dist::Axis &axis : mesh.axes) {
      dist::SubAxes parts = seeds->partsOf(axis);
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
