//===- HoistShared.cpp - run once what all microbatches share -------------===//

#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/StageParts.h"
#include "passes/plan/memory/Hoist.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "hoist-shared"

namespace pcc::schedule {
#define GEN_PASS_DEF_HOISTSHARED
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += tensor.getNumElements() * graph::elementBytes(tensor);
  }
  return bytes;
}

/// Whether a sharding in `attribute` says that microbatches differ.
static bool usesTime(Attribute attribute) {
  const WalkResult walked = attribute.walk([](dist::ShardingAttr sharding) {
    const bool found = llvm::any_of(
        dist::axesUsed(sharding.getSharding()),
        [](const dist::SubAxis &axis) { return axis.axis == dist::timeAxis; });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

static bool communicates(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveOp>(op);
  return collective && collective.getKind() != dist::CollectiveKind::Slice &&
         collective.getKind() != dist::CollectiveKind::Mask;
}

namespace {
/// Takes what need not run in every microbatch out of a stage.
class SharedOpHoister {
public:
  explicit SharedOpHoister(func::FuncOp stage)
      : stage(stage), body(stage.front()) {}

  /// Leaves the stage as it is where nothing is held. Returns the bytes that
  /// are.
  int64_t run(int64_t maxHeldBytes) {
    readOps();
    hoisting = plan::chooseHoisting(stageOps, maxHeldBytes);
    for (auto [op, isHeld] : llvm::zip_equal(ops, hoisting.isHeld))
      if (isHeld)
        llvm::copy_if(op->getResults(), std::back_inserter(held),
                      [&](Value result) { return isReadEach(result); });
    if (held.empty())
      return 0;
    const int64_t bytes = bytesOf(ValueRange(held).getTypes());
    buildOnce();
    takeHeld();
    return bytes;
  }

private:
  void readOps() {
    for (Operation &op : body.without_terminator()) {
      numberOf[&op] = static_cast<int>(ops.size());
      ops.push_back(&op);
      plan::StageOp &read = stageOps.emplace_back();
      read.isShared = isShared(&op);
      read.communicates = communicates(&op);
      read.isView = op.hasTrait<OpTrait::ConstantLike>() ||
                    isa<graph::GetParameterOp, graph::ReshapeOp,
                        graph::TransposeOp, graph::SliceOp>(op);
      read.isOutput = llvm::is_contained(op.getUsers(), body.getTerminator());
      read.readBytes = bytesOf(op.getOperandTypes());
      read.resultBytes = bytesOf(op.getResultTypes());
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp())
          read.operands.push_back(numberOf.at(maker));
    }
  }

  /// What another stage sends may differ, whatever it is.
  bool isShared(Operation *op) const {
    if (!isMemoryEffectFree(op) || isa<pipe::ReceiveOp>(op) ||
        usesTime(op->getAttrDictionary()) || isOfUpdate(op))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      if (Operation *maker = operand.getDefiningOp())
        return stageOps[numberOf.at(maker)].isShared;
      dist::ShardingAttr sharding = dist::shardingOf(operand);
      return !sharding || !usesTime(sharding);
    });
  }

  /// An update runs once anyway.
  static bool isOfUpdate(Operation *op) {
    auto part = op->getAttrOfType<IntegerAttr>(pipe::partName);
    return part && part.getInt() >= updatePart;
  }

  bool runsEach(Operation *op) const {
    return op == body.getTerminator() || hoisting.runsEach[numberOf.at(op)];
  }

  bool isReadEach(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return runsEach(user); });
  }

  /// The function of what runs once, in front of the stage.
  void buildOnce() {
    OpBuilder builder(stage);
    SmallVector<unsigned> arguments;
    for (BlockArgument argument : body.getArguments())
      if (llvm::any_of(argument.getUsers(), [&](Operation *user) {
            auto number = numberOf.find(user);
            return number != numberOf.end() &&
                   hoisting.runsOnce[number->second];
          }))
        arguments.push_back(argument.getArgNumber());
    SmallVector<Type> inputs = llvm::map_to_vector(
        arguments, [&](unsigned i) { return stage.getArgumentTypes()[i]; });
    auto once = func::FuncOp::create(
        builder, stage.getLoc(), (stage.getName() + "_shared").str(),
        builder.getFunctionType(inputs, ValueRange(held).getTypes()));
    once->setAttr(pipe::stageName, stage->getAttr(pipe::stageName));
    once->setAttr(pipe::actionName, builder.getStringAttr(pipe::unshardAction));
    IRMapping map;
    builder.setInsertionPointToStart(once.addEntryBlock());
    for (auto [to, from] : llvm::enumerate(arguments)) {
      once.setArgAttrs(to, stage.getArgAttrDict(from));
      map.map(stage.getArgument(from), once.getArgument(to));
    }
    for (auto [op, runs] : llvm::zip_equal(ops, hoisting.runsOnce))
      if (runs)
        builder.clone(*op, map)->removeAttr(pipe::partName);
    func::ReturnOp::create(builder, stage.getLoc(),
                           llvm::map_to_vector(held, [&](Value value) {
                             return map.lookup(value);
                           }));
  }

  /// Held values become arguments of the stage; what nobody reads any more
  /// goes.
  void takeHeld() {
    Builder builder(stage.getContext());
    for (auto [number, value] : llvm::enumerate(held)) {
      NamedAttrList attributes;
      attributes.append(
          pipe::heldAttr(stage.getContext(),
                         {builder.getStringAttr(stage.getName() + "_shared"),
                          static_cast<unsigned>(number)}));
      if (dist::ShardingAttr sharding = dist::shardingOf(value))
        attributes.append(dist::shardingName, sharding);
      const unsigned last = stage.getNumArguments();
      (void)stage.insertArgument(last, value.getType(),
                                 attributes.getDictionary(stage.getContext()),
                                 value.getLoc());
      value.replaceAllUsesWith(stage.getArgument(last));
    }
    for (size_t i = ops.size(); i-- > 0;)
      if (!hoisting.runsEach[i])
        ops[i]->erase();
    for (unsigned i = stage.getNumArguments(); i-- > 0;)
      if (stage.getArgument(i).use_empty())
        (void)stage.eraseArgument(i);
  }

  func::FuncOp stage;
  Block &body;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int> numberOf;
  std::vector<plan::StageOp> stageOps;
  plan::Hoisting hoisting;
  SmallVector<Value> held;
};

struct HoistShared : pcc::schedule::impl::HoistSharedBase<HoistShared> {
  int64_t integer(StringRef name, int64_t otherwise) {
    auto attribute = getOperation()->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : otherwise;
  }

  void runOnOperation() override {
    const int64_t microbatches = integer("pipe.microbatches", 1);
    if (microbatches < 1) {
      getOperation().emitError()
          << "cannot share between " << microbatches << " microbatches";
      return signalPassFailure();
    }
    if (microbatches == 1)
      return;
    const int64_t most = integer(pipe::maxHeldBytesName, INT64_MAX);
    for (auto stage : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!stage->hasAttr(pipe::stageName))
        continue;
      const int64_t bytes = SharedOpHoister(stage).run(most);
      heldBytes += bytes;
      LDBG() << stage.getName() << " holds " << bytes << " bytes";
    }
  }
};
} // namespace
