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
  /// Replaces one reshard by the collectives of its plan. The planner and the
  /// prices are those of `4-shard`, so that the communication is what the
  /// search has priced.
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
    // Keep the recorded sharding of the reshard's result. If its reader was a
    // slice or pad with a window, localize-shapes has erased that op and
    // recorded the sharding of its result here.
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

  /// Creates the collective of one step and counts it in the statistics, unless
  /// it is local.
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
