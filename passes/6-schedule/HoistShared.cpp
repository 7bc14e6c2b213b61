//===- HoistShared.cpp - hoisting of ops that microbatches share ----------===//
//
// Loop-invariant code motion over microbatches: ops whose results are equal in
// all microbatches move to a function that runs once per step. The main case is
// the all-gather of a sharded weight (FSDP), which then runs once per step, at
// the cost of holding the whole weight. plan/memory/Hoist.h chooses.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
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

/// Returns the size of tensors of the types `types` on one rank in bytes.
static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += tensor.getNumElements() * graph::elementBytes(tensor);
  }
  return bytes;
}

/// Returns whether `attribute` contains a sharding over the time axis
/// (microbatches). A value with such a sharding differs between microbatches.
static bool usesTime(Attribute attribute) {
  const WalkResult walked = attribute.walk([](dist::ShardingAttr sharding) {
    const bool found = llvm::any_of(
        dist::axesUsed(sharding.getSharding()),
        [](const dist::SubAxis &axis) { return axis.axis == dist::timeAxis; });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

/// Returns whether `op` is a collective in which ranks exchange data. Slice and
/// mask collectives are local to a rank.
static bool communicates(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveOp>(op);
  return collective && dist::communicates(collective.getKind());
}

namespace {
/// Moves ops of one stage whose results are equal in all microbatches to a new
/// function, which runs once per step. The stage function then receives the
/// results as arguments. Each of these arguments has the attribute `pipe.held`,
/// which names the new function.
class SharedOpHoister {
public:
  explicit SharedOpHoister(func::FuncOp stage)
      : stage(stage), body(stage.front()) {}

  /// Moves the shared ops that the planner chooses. Some of their results stay
  /// in memory for the whole step. Returns the bytes of these results, at most
  /// `maxHeldBytes`. If there are none, leaves the stage unchanged and returns
  /// 0.
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
  /// Fills `ops` (the ops of the stage), `numberOf` (their indices) and
  /// `stageOps` (their form for the planner).
  void readOps() {
    for (Operation &op : body.without_terminator()) {
      numberOf[&op] = static_cast<int>(ops.size());
      ops.push_back(&op);
      plan::StageOp &read = stageOps.emplace_back();
      read.isShared = isShared(&op);
      read.communicates = communicates(&op);
      read.isView =
          op.hasTrait<graph::IsStored>() || op.hasTrait<graph::IsView>();
      read.isOutput = llvm::is_contained(op.getUsers(), body.getTerminator());
      read.readBytes = bytesOf(op.getOperandTypes());
      read.resultBytes = bytesOf(op.getResultTypes());
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp())
          read.operands.push_back(numberOf.at(maker));
    }
  }

  /// Returns whether the results of `op` are equal in all microbatches and `op`
  /// may be moved. All of these must hold:
  ///
  /// - `op` is pure.
  /// - `op` is no receive, because the received value is computed in another
  ///   stage.
  /// - `op` does not belong to the update.
  /// - The shardings of `op` do not use the time axis (microbatches).
  /// - The operands of `op` are equal in all microbatches.
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

  /// Returns whether `op` belongs to the update. Update ops need not be moved,
  /// because they run once per step.
  static bool isOfUpdate(Operation *op) {
    auto part = op->getAttrOfType<IntegerAttr>(pipe::partName);
    return part && part.getInt() >= updatePart;
  }

  /// Returns whether `op` stays in the stage function and runs in every
  /// microbatch. Otherwise `op` is a shared op, which is moved to the
  /// once-per-step function.
  bool runsEach(Operation *op) const {
    return op == body.getTerminator() || hoisting.runsEach[numberOf.at(op)];
  }

  /// Returns whether `value` is read by an op that runs in every microbatch.
  bool isReadEach(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return runsEach(user); });
  }

  /// Builds the function that runs once per step, before the stage function. It
  /// contains clones of the moved ops and returns the values in `held`, which
  /// stay in memory for the whole step.
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
    once.setAllArgAttrs(llvm::map_to_vector(
        arguments, [&](unsigned i) { return stage.getArgAttrDict(i); }));
    for (auto [to, from] : llvm::enumerate(arguments))
      map.map(stage.getArgument(from), once.getArgument(to));
    for (auto [op, runs] : llvm::zip_equal(ops, hoisting.runsOnce))
      if (runs)
        builder.clone(*op, map)->removeAttr(pipe::partName);
    func::ReturnOp::create(builder, stage.getLoc(),
                           llvm::map_to_vector(held, [&](Value value) {
                             return map.lookup(value);
                           }));
  }

  /// Makes the stage function read new arguments instead of the values in
  /// `held`, which the once-per-step function returns. Then erases the ops and
  /// arguments without readers.
  void takeHeld() {
    Builder builder(stage.getContext());
    const unsigned first = stage.getNumArguments();
    SmallVector<DictionaryAttr> added;
    for (auto [number, value] : llvm::enumerate(held)) {
      NamedAttrList attributes;
      attributes.append(
          pipe::heldAttr(stage.getContext(),
                         {builder.getStringAttr(stage.getName() + "_shared"),
                          static_cast<unsigned>(number)}));
      if (dist::ShardingAttr sharding = dist::shardingOf(value))
        attributes.append(dist::shardingName, sharding);
      added.push_back(attributes.getDictionary(stage.getContext()));
    }
    (void)stage.insertArguments(
        SmallVector<unsigned>(held.size(), first), ValueRange(held).getTypes(),
        added,
        llvm::map_to_vector(held, [](Value value) { return value.getLoc(); }));
    for (auto [number, value] : llvm::enumerate(held))
      value.replaceAllUsesWith(stage.getArgument(first + number));
    for (size_t i = ops.size(); i-- > 0;)
      if (!hoisting.runsEach[i])
        ops[i]->erase();
    llvm::BitVector isUnread(stage.getNumArguments());
    for (unsigned i = 0; i < isUnread.size(); ++i)
      isUnread[i] = stage.getArgument(i).use_empty();
    (void)stage.eraseArguments(isUnread);
  }

  func::FuncOp stage;
  Block &body;
  /// Ops of the stage without the terminator, and the index of each in this
  /// list.
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int> numberOf;
  /// The ops of the stage in the form that the planner reads, and the planner's
  /// choice. Both are indexed like `ops`.
  std::vector<plan::StageOp> stageOps;
  plan::Hoisting hoisting;
  /// Values that the once-per-step function returns and that stay in memory for
  /// the whole step.
  SmallVector<Value> held;
};

struct HoistShared : pcc::schedule::impl::HoistSharedBase<HoistShared> {
  /// Returns the module's integer attribute `name`; `otherwise` if it is
  /// absent.
  int64_t integer(StringRef name, int64_t otherwise) {
    auto attribute = getOperation()->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : otherwise;
  }

  void runOnOperation() override {
    if (integer(pipe::microbatchesName, 1) == 1)
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
