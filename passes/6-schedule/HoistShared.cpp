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

/// Returns the sum of the bytes of several tensors. Each element of `types` is
/// the type of one tensor, with the shape that the tensor has on one rank. For
/// example, a tensor<2x3xf32> has 24 bytes, and a tensor<4xf32> has 16 bytes.
/// The sum is 40.
static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += tensor.getNumElements() * graph::elementBytes(tensor);
  }
  return bytes;
}

/// Returns whether `attribute` contains a sharding that uses the mesh axis
/// `mb`. The coordinates along `mb` are microbatches instead of ranks. A value
/// that is sharded along `mb` differs between microbatches.
static bool usesTime(Attribute attribute) {
  const WalkResult walked = attribute.walk([](dist::ShardingAttr sharding) {
    const bool found = llvm::any_of(
        dist::axesUsed(sharding.getSharding()),
        [](const dist::SubAxis &axis) { return axis.axis == dist::timeAxis; });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

/// Returns whether ranks exchange data when `op` runs. Returns true for a
/// `dist.collective` of a kind such as all_gather or all_reduce. Returns false
/// for other ops, and for a `dist.collective` of the kind slice or mask: a rank
/// runs these two kinds without communication.
static bool communicates(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveOp>(op);
  return collective && dist::communicates(collective.getKind());
}

namespace {
/// Hoists ops with equal results in all microbatches, such as the all-gather of
/// a weight. The ops move from the stage function, which runs once per
/// microbatch, to a new function, which runs once per step. The stage function
/// gets an argument for each result of the new function. The attribute
/// `pipe.held` of the argument names the new function and the result.
class SharedOpHoister {
public:
  explicit SharedOpHoister(func::FuncOp stage)
      : stage(stage), body(stage.front()) {}

  /// Moves ops of the stage to a function that runs once per step. The function
  /// `plan::chooseHoisting` chooses the ops. The results of the new function
  /// stay in memory for the whole step. Returns the bytes of these results on
  /// one rank, or 0 if no op is moved. The bytes are at most `maxHeldBytes`.
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
  /// Fills `ops`, `numberOf` and `stageOps` from the stage function.
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

  /// Returns whether `op` may run once per step instead of once per microbatch.
  /// Its operands must be equal in all microbatches, and its attributes must
  /// have no sharding over the mesh axis `mb` (microbatches). Receives,
  /// optimizer updates and ops with memory effects must stay.
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

  /// Returns whether `op` belongs to the optimizer update. Ops of the optimizer
  /// update do not move to another function, because they already run once per
  /// step.
  static bool isOfUpdate(Operation *op) {
    auto part = op->getAttrOfType<IntegerAttr>(pipe::partName);
    return part && part.getInt() >= updatePart;
  }

  /// Returns whether `op` runs once per microbatch. `op` is an op of the stage
  /// function, which runs once per microbatch. This class moves some ops of the
  /// stage function to a new function, which runs once per step. Returns true
  /// if the stage function needs `op` after the move.
  bool runsEach(Operation *op) const {
    return op == body.getTerminator() || hoisting.runsEach[numberOf.at(op)];
  }

  /// Returns whether an op that runs once per microbatch reads `value`.
  bool isReadEach(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return runsEach(user); });
  }

  /// Builds the function that runs once per step. The planner
  /// (plan::chooseHoisting) has chosen ops for this function. The function
  /// contains clones of these ops, and returns the values in `held`. Ops that
  /// run once per microbatch read the values in `held`.
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

  /// Adds an argument to the stage function for each value in `held`, and lets
  /// the ops read the argument instead of the value. Then erases the ops that
  /// now run only once per step, and all arguments that no op reads. Call it
  /// after buildOnce(), which clones the erased ops.
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
  /// `ops`: ops of the stage in program order, without the terminator.
  /// `numberOf`: index of each op in `ops`.
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int> numberOf;
  /// Descriptions of the ops of the stage function, one for each op, in program
  /// order. The terminator has no description. A description has the data that
  /// the function plan::chooseHoisting() reads, such as the number of bytes of
  /// the results of the op. plan::chooseHoisting() chooses the ops that run
  /// once per step instead of once per microbatch.
  std::vector<plan::StageOp> stageOps;
  /// Decision of plan::chooseHoisting(): for each op in `ops`, whether it runs
  /// once per step, in every microbatch, or both.
  plan::Hoisting hoisting;
  /// Values of the stage function that are computed once per step, and that ops
  /// read in every microbatch. For example, a value can be the result of the
  /// all-gather of a weight. buildOnce() builds the function that runs once per
  /// step and returns these values. The values stay in memory for the whole
  /// step.
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
