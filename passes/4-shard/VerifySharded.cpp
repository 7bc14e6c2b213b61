//===- VerifySharded.cpp - gate of phase 4-shard --------------------------===//

#include "dialects/dist/BriefText.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DebugLog.h"

#include <map>

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
           << "a value of " << value.getType()
           << " has no sharding; every value has one after 4-shard";
  if (auto error =
          dist::findError(sharding.getSharding(), mesh,
                          dist::shapeOf(graph::tensorType(value).getShape())))
    return emitError(value.getLoc())
           << value.getType() << " has the sharding "
           << dist::toBriefString(sharding.getSharding(), mesh) << ": "
           << *error;
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
           << "' that fits its sharding rule; every op has one after 4-shard";
  if (dist::SubAxes inner = recorded->innerAxes(); !inner.empty())
    return op->emitOpError("is split over ")
           << dist::toString(inner.front(), &mesh)
           << " along a dim whose parts exchange values; after 4-shard it has "
              "to be replaced by ops that do so";
  for (OpOperand &operand : op->getOpOperands()) {
    dist::ShardingAttr actual = dist::shardingOf(operand.get());
    dist::Sharding wanted =
        recorded->operandSharding(operand.getOperandNumber());
    if (actual && !dist::samePlacement(actual.getSharding(), wanted))
      return op->emitOpError("takes operand ")
             << operand.getOperandNumber() << " as "
             << dist::toBriefString(wanted, mesh) << ", but it is "
             << dist::toBriefString(actual.getSharding(), mesh);
  }
  for (OpResult result : op->getResults())
    if (dist::ShardingAttr actual = dist::shardingOf(result);
        actual && !dist::samePlacement(
                      actual.getSharding(),
                      recorded->resultSharding(result.getResultNumber())))
      return op->emitOpError("gives ")
             << dist::toBriefString(
                    recorded->resultSharding(result.getResultNumber()), mesh)
             << ", but is marked "
             << dist::toBriefString(actual.getSharding(), mesh);
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
           << dist::briefText(op.getFrom(), op) << ", but its operand is "
           << dist::briefText(from, op);
  return success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Returns the pipeline stage of `op` and its sharding of the parameter that it
/// reads or writes. Ranks of a stage store one copy per sharding.
static std::pair<int64_t, std::string> copyOf(Operation *op) {
  auto split = op->getAttrOfType<dist::ShardingAttr>(dist::splitName);
  return {pipe::stageOf(op),
          split ? dist::toString(dist::placement(split.getSharding())) : ""};
}

/// Returns how `op` splits its loop dims, for messages.
static std::string splitText(Operation *op) {
  auto split = op->getAttrOfType<dist::ShardingAttr>(dist::splitName);
  return split ? dist::briefText(split, op) : "no 'dist.split'";
}

/// Checks that each copy of a parameter that the step reads is one that the
/// step writes, if it writes the parameter: other copies would keep their old
/// elements. Emits an error and fails at the first one that is not.
static LogicalResult checkCopies(func::FuncOp function) {
  llvm::StringMap<std::map<std::pair<int64_t, std::string>, Operation *>>
      writes;
  for (auto set : function.getOps<graph::SetParameterOp>())
    writes[set.getParameter()].try_emplace(copyOf(set), set);
  for (auto get : function.getOps<graph::GetParameterOp>()) {
    const auto written = writes.find(get.getParameter());
    if (written == writes.end() || written->second.count(copyOf(get)))
      continue;
    InFlightDiagnostic error = get.emitOpError("reads '")
                               << get.getParameter() << "' on stage "
                               << pipe::stageOf(get) << " as " << splitText(get)
                               << ", in which no 'graph.set_parameter' of this "
                                  "stage writes it";
    const auto &[copy, set] = *written->second.begin();
    error.attachNote(set->getLoc())
        << "stage " << copy.first << " writes it as " << splitText(set);
    return error;
  }
  return success();
}

namespace {
/// Comparison of the ops that compute two values.
class OpComparison {
public:
  /// Returns whether `a` and `b` are computed alike. Returns nullopt if this is
  /// not known: if one of them is an argument or comes from another stage or
  /// sharding, or after `steps` ops one behind another.
  std::optional<bool> areSame(Value a, Value b, int steps) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (x && x == y)
      return true;
    if (!x || !y || steps == 0 || isMoved(x) || isMoved(y))
      return std::nullopt;
    const auto [entry, isNew] = known.try_emplace({x, y}, std::nullopt);
    if (isNew)
      known[{x, y}] = compare(x, y, steps);
    return known[{x, y}];
  }

private:
  static bool isMoved(Operation *op) {
    return isa<pipe::TransferOp, dist::ReshardOp>(op);
  }

  std::optional<bool> compare(Operation *a, Operation *b, int steps) {
    std::optional<bool> isSame = OperationEquivalence::isEquivalentTo(
        a, b, OperationEquivalence::ignoreValueEquivalence, nullptr,
        OperationEquivalence::IgnoreLocations |
            OperationEquivalence::IgnoreDiscardableAttrs);
    for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands())) {
      const auto isSameOperand = areSame(x, y, steps - 1);
      if (!isSameOperand)
        return std::nullopt;
      isSame = *isSame && *isSameOperand;
    }
    return isSame;
  }

  std::map<std::pair<Operation *, Operation *>, std::optional<bool>> known;
};
} // namespace

/// Checks that all stages which write a parameter write the same value, if they
/// compute it themselves, as they do the number of steps from the one before.
/// Emits an error and fails at the first one that differs.
static LogicalResult checkUpdates(func::FuncOp function) {
  llvm::StringMap<graph::SetParameterOp> first;
  for (auto set : function.getOps<graph::SetParameterOp>()) {
    const auto [other, isFirst] = first.try_emplace(set.getParameter(), set);
    constexpr int mostSteps = 100;
    if (isFirst ||
        OpComparison()
            .areSame(other->second.getValue(), set.getValue(), mostSteps)
            .value_or(true))
      continue;
    InFlightDiagnostic error = set.emitOpError("writes '")
                               << set.getParameter() << "' on stage "
                               << pipe::stageOf(set)
                               << ", but another value than stage "
                               << pipe::stageOf(other->second) << " does";
    error.attachNote(other->second.getLoc()) << "the other one is here";
    return error;
  }
  return success();
}

namespace {
/// Pass that checks the shardings of a function at the end of phase 4-shard.
/// Each argument and each op result must have a sharding that fits the mesh and
/// the shape. Each op must have its operands and results in the shardings that
/// it needs. Each copy of a parameter that is read must be updated, if the step
/// writes the parameter. No function result may be partial (still to be reduced
/// over ranks), and no `dist.pin` (sharding constraint) may remain.
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
            "remains after 4-shard; pins are for dumps of earlier phases");
      auto reshard = dyn_cast<dist::ReshardOp>(op);
      if (failed(reshard ? checkReshard(reshard) : checkOp(&op, mesh)))
        return failure();
    }
    return success(succeeded(checkResults()) &&
                   succeeded(checkCopies(getOperation())) &&
                   succeeded(checkUpdates(getOperation())));
  }

  /// Emits an error and fails if some function result is partial, that is,
  /// still has to be reduced over ranks.
  LogicalResult checkResults() {
    for (Value value : getOperation().front().getTerminator()->getOperands())
      if (auto sharding = dist::shardingOf(value);
          sharding && dist::isPartial(sharding.getSharding()))
        return getOperation().emitError()
               << "an output is partial: "
               << dist::briefText(sharding, getOperation())
               << "; a dist.reshard has to reduce it";
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
