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
  /// Replaces `reshard` by the cheapest sequence of collectives. The price is a
  /// time if a cluster file describes the network, else the received bytes.
  /// Emits an error and fails if no sequence exists.
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
    // Give the value the sharding of the reshard's result. It is usually equal
    // to the attribute `to` of the reshard. There is one exception: the reshard
    // exchanges the halo for an op, such as a slice, and the pass
    // localize-shapes has erased this op. `to` then describes the shards with
    // halo, but the result of the reshard has the sharding of the slice.
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

  /// Creates the collective for `step`, one step in the plan of `reshard`.
  /// `value` is the shard of one rank before the step. Returns the shard of one
  /// rank after the step. `builder` inserts the new op. Adds the received bytes
  /// of the step to the statistics of the pass. Also counts the collective if
  /// ranks exchange data in it. In a slice, for example, each rank keeps a part
  /// of its shard, so the function does not count the slice.
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
