//===- ReshardToCollectives.cpp - reshards as planned collectives ---------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/5-localize/CollectiveSteps.h"
#include "passes/5-localize/Passes.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "reshard-to-collectives"

namespace pcc::localize {
#define GEN_PASS_DEF_RESHARDTOCOLLECTIVES
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

namespace {
struct ReshardToCollectives
    : pcc::localize::impl::ReshardToCollectivesBase<ReshardToCollectives> {
  /// Replaces one reshard (change of sharding) by the collectives that the
  /// planner chooses. The prices are those of phase 4-shard.
  LogicalResult lower(dist::ReshardOp reshard, plan::ReshardPlanner &planner) {
    if (!reshard.getShape())
      return reshard.emitOpError(
          "has no global shape; localize-shapes must run before");
    auto type = cast<RankedTensorType>(reshard.getType());
    auto shape = dist::shapeOf(*reshard.getShape());
    const auto &plan = planner.plan(reshard.getFrom().getSharding(),
                                    reshard.getTo().getSharding(), shape,
                                    graph::elementBytes(type));
    if (!plan.possible())
      return reshard.emitOpError("cannot be lowered: ") << plan.error;
    OpBuilder builder(reshard);
    Value value = reshard.getInput();
    for (const plan::ReshardStep &step : plan.steps)
      value = emitStep(builder, reshard, value, step);
    // Keep a sharding that is recorded on the result of the reshard. It belongs
    // to a slice or pad (halo exchange) that localize-shapes has replaced by
    // the reshard.
    if (auto known = dist::shardingOf(reshard.getResult());
        known && value != reshard.getInput())
      dist::setSharding(value, known.getSharding());
    if (Attribute name = reshard->getAttr(graph::nameName);
        name && value != reshard.getInput())
      value.getDefiningOp()->setAttr(graph::nameName, name);
    reshard.replaceAllUsesWith(value);
    reshard.erase();
    return success();
  }

  /// Creates the collective for one step of the plan. Counts it in the
  /// statistics of the pass, unless it is local to a rank.
  Value emitStep(OpBuilder &builder, dist::ReshardOp reshard, Value value,
                 const plan::ReshardStep &step) {
    numCollectives += dist::communicates(step.kind);
    receivedBytes += step.receivedBytes;
    return makeCollective(
        builder, reshard.getLoc(), value, step, *reshard.getShape(),
        graph::nodeName(reshard.getLoc()), reshard->getAttr(pipe::stageName));
  }

  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    const dist::Mesh mesh = dist::meshOf(module);
    plan::ReshardPlanner planner(
        mesh,
        plan::pricesOf(dist::clusterOf(module), dist::targetOf(module), mesh));
    for (auto reshard :
         llvm::make_early_inc_range(getOperation().getOps<dist::ReshardOp>()))
      if (failed(lower(reshard, planner)))
        return signalPassFailure();
    LDBG() << "planned " << planner.numPlanned() << " different reshards";
  }
};
} // namespace
