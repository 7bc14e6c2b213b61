//===- VerifySharded.cpp - gate of phase 4-shard --------------------------===//

#include "passes/4-shard/Passes.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "sharding/ShardingText.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-sharded"

namespace pcc::shard {
#define GEN_PASS_DEF_VERIFYSHARDED
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Emits an error and fails unless `value` has a sharding that fits the mesh
/// and the shape of the value.
static LogicalResult checkValue(Value value, const dist::Mesh &mesh) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  if (!sharding)
    return emitError(value.getLoc())
           << "phase '4-shard' left a value of " << value.getType()
           << " without a sharding";
  if (auto error =
          dist::findError(sharding.getSharding(), mesh,
                          dist::shapeOf(graph::tensorType(value).getShape())))
    return emitError(value.getLoc())
           << "phase '4-shard' gave " << value.getType() << " the sharding "
           << dist::toString(sharding.getSharding(), &mesh) << ": " << *error;
  return success();
}

/// Checks that `op` has a valid `dist.split`, an attribute that lists the mesh
/// axes that split each loop dim. Also checks that its operands and results
/// have the shardings that follow from this attribute. No axis may split a dim
/// along which ranks exchange values, such as the normalized dim of a softmax.
/// Emits an error and fails if a check fails.
static LogicalResult checkOp(Operation *op, const dist::Mesh &mesh) {
  auto recorded = readShardedOp(op);
  if (!recorded)
    return op->emitOpError("has no '")
           << dist::splitName
           << "' that fits its rule; decide-shardings must give it one";
  if (dist::SubAxes inner = recorded->innerAxes(); !inner.empty())
    return op->emitOpError("is split over ")
           << dist::toString(inner.front(), &mesh)
           << " along a dim whose parts exchange values; expand-split-ops must "
              "replace it";
  for (OpOperand &operand : op->getOpOperands()) {
    dist::ShardingAttr actual = dist::shardingOf(operand.get());
    dist::Sharding wanted =
        recorded->operandSharding(operand.getOperandNumber());
    if (actual && !dist::samePlacement(actual.getSharding(), wanted))
      return op->emitOpError("takes operand ")
             << operand.getOperandNumber() << " as "
             << dist::toString(wanted, &mesh) << ", but it is "
             << dist::toString(actual.getSharding(), &mesh);
  }
  for (OpResult result : op->getResults())
    if (dist::ShardingAttr actual = dist::shardingOf(result);
        actual && !dist::samePlacement(
                      actual.getSharding(),
                      recorded->resultSharding(result.getResultNumber())))
      return op->emitOpError("gives ")
             << dist::toString(
                    recorded->resultSharding(result.getResultNumber()), &mesh)
             << ", but is marked "
             << dist::toString(actual.getSharding(), &mesh);
  return success();
}

/// Checks the reshard `op`. A reshard is an op that changes the sharding of its
/// operand. Its attribute `from` is the sharding that the operand must have.
/// Emits an error and fails if the operand has another sharding.
static LogicalResult checkReshard(dist::ReshardOp op) {
  dist::ShardingAttr from = dist::shardingOf(op.getInput());
  if (from &&
      !dist::samePlacement(from.getSharding(), op.getFrom().getSharding()))
    return op.emitOpError("starts from ")
           << op.getFrom() << ", but its operand is " << from;
  return success();
}

namespace {
/// Pass that checks the shardings of a function at the end of phase 4-shard.
/// Each argument and each op result must have a sharding that fits the mesh and
/// the shape. Each op must have its operands and results in the shardings that
/// it needs. No function result may be partial (still to be reduced over
/// ranks), and no `dist.pin` (sharding constraint) may remain.
struct VerifySharded : pcc::shard::impl::VerifyShardedBase<VerifySharded> {
  /// Checks the shardings of the whole function. Emits the first error and
  /// fails if there is one.
  LogicalResult check() {
    dist::Mesh mesh = dist::meshOf(getOperation()->getParentOfType<ModuleOp>());
    for (Value argument : getOperation().getArguments())
      if (failed(checkValue(argument, mesh)))
        return failure();
    for (Operation &op : getOperation().front().without_terminator()) {
      for (Value result : op.getResults())
        if (++numValues; failed(checkValue(result, mesh)))
          return failure();
      if (isa<dist::PinOp>(op))
        return op.emitOpError(
            "survived phase '4-shard'; erase-pins must remove it");
      auto reshard = dyn_cast<dist::ReshardOp>(op);
      if (failed(reshard ? checkReshard(reshard) : checkOp(&op, mesh)))
        return failure();
    }
    return checkResults();
  }

  /// Emits an error and fails if some function result is partial, that is,
  /// still has to be reduced over ranks.
  LogicalResult checkResults() {
    for (Value value : getOperation().front().getTerminator()->getOperands())
      if (auto sharding = dist::shardingOf(value);
          sharding && dist::isPartial(sharding.getSharding()))
        return getOperation().emitError()
               << "phase '4-shard' left an output partial: " << sharding;
    return success();
  }

  void runOnOperation() override {
    if (failed(check()))
      return signalPassFailure();
    LDBG() << "all values sharded";
    markAllAnalysesPreserved();
  }
};
} // namespace
