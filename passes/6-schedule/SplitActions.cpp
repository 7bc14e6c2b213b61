//===- SplitActions.cpp - one function per kind of action -----------------===//
//
// Divides each stage function that trains into the functions of its actions: F;
// B, or I and W (zero bubble, Qi et al. 2023); the parts of the update. A value
// that a later function reads, such as an activation, becomes a result of the
// one and an argument (`pipe.held`) of the other.
//
//===----------------------------------------------------------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/StageParts.h"
#include "passes/6-schedule/UserSchedule.h"
#include "passes/plan/schedule/ScheduleFile.h"
#include "passes/plan/schedule/Schedules.h"
#include "llvm/Support/DebugLog.h"

#include <map>
#include <set>

#define DEBUG_TYPE "split-actions"

namespace pcc::schedule {
#define GEN_PASS_DEF_SPLITACTIONS
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

//===----------------------------------------------------------------------===//
// I and W
//===----------------------------------------------------------------------===//

/// Returns the ops that the sends of the backward pass need. `body` has the ops
/// of a stage. A send passes a gradient to another stage. The function returns
/// these sends, and each op of `body` on which one of these sends depends,
/// directly or through other ops.
static DenseSet<Operation *> opsBehindSends(Block &body) {
  DenseSet<Operation *> behind;
  for (Operation &op : llvm::reverse(body)) {
    const bool isSent = isa<pipe::SendOp>(op) && partOf(&op) == backwardPart;
    if (isSent || llvm::any_of(op.getUsers(), [&](Operation *user) {
          return behind.contains(user);
        }))
      behind.insert(&op);
  }
  return behind;
}

/// Returns the ops of the forward and backward pass on which at least two
/// gradients of weights depend. `body` has the ops of a stage. A gradient of a
/// weight is the operand of a `graph.accumulate`.
static DenseSet<Operation *> opsOfSeveralGradients(Block &body) {
  DenseSet<Operation *> several;
  DenseMap<Operation *, std::set<Operation *>> reached;
  for (Operation &op : llvm::reverse(body)) {
    std::set<Operation *> &own = reached[&op];
    if (isa<graph::AccumulateOp>(op))
      own.insert(&op);
    else if (partOf(&op) <= backwardPart)
      for (Operation *user : op.getUsers())
        for (Operation *gradient : reached[user])
          if (own.size() < 2)
            own.insert(gradient);
    if (own.size() > 1)
      several.insert(&op);
  }
  return several;
}

/// Splits the backward pass of a stage into two actions: I (input gradients)
/// runs first, then W (weight gradients). I keeps the ops that the gradients
/// sent to other stages need. If the stage sends none, I keeps the ops that at
/// least two weight gradients need.
static void splitBackward(Block &body) {
  DenseSet<Operation *> inputs = opsBehindSends(body);
  if (inputs.empty())
    inputs = opsOfSeveralGradients(body);
  for (Operation &op : body.without_terminator())
    if (partOf(&op) == backwardPart && !inputs.contains(&op))
      setPart(&op, weightGradientPart);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Divides one stage function into one function per part of the training step,
/// such as forward pass, backward pass and update. Erases the stage function,
/// unless it has only a forward pass.
class StageSplitter {
public:
  /// Prepares the division of `stage`, but does not change it. `isBackward` is
  /// true if the schedule runs a backward pass of the stage. `splitsBackward`
  /// is true if the schedule runs the backward pass as two actions, I (input
  /// gradient) and W (weight gradient).
  StageSplitter(func::FuncOp stage, bool isBackward, bool splitsBackward)
      : stage(stage), body(stage.front()), splitsBackward(splitsBackward) {
    functions.try_emplace(forwardPart);
    if (isBackward)
      functions.try_emplace(backwardPart);
    if (isBackward && splitsBackward)
      functions.try_emplace(weightGradientPart);
  }

  /// Divides the stage function into one function per part of the training
  /// step: forward pass, backward pass, optimizer update. Emits an error and
  /// fails if an op reads a value of a later part than its own. For example, an
  /// op of the forward pass must not read a value of the backward pass.
  LogicalResult run() {
    if (failed(checkOrder()))
      return failure();
    if (splitsBackward)
      splitBackward(body);
    for (Operation &op : body.without_terminator())
      if (!isSourceOp(&op))
        functions.try_emplace(partOf(&op));
    if (functions.size() == 1) {
      forgetParts();
      return success();
    }
    for (auto &[part, function] : functions)
      begin(part, function);
    for (Operation &op : body.without_terminator())
      if (!isSourceOp(&op))
        copy(&op);
    returnOutputs();
    for (auto &[part, function] : functions)
      finish(function);
    stage.erase();
    return success();
  }

private:
  /// The function of one part (such as the forward pass) while it is being
  /// built.
  struct ActionFunction {
    func::FuncOp op;
    /// Map from values of the undivided stage function to values of the new
    /// function. For example, the map has the result of an op as a key, and the
    /// result of the clone of this op as the value.
    IRMapping map;
    /// Values in the body of the new function that the function will return.
    /// Each value is an output of the model, or another function of the same
    /// stage reads the value. For example, the function of the backward pass
    /// reads an activation. The function of the forward pass returns this
    /// activation.
    SmallVector<Value> results;
    SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
    /// Map from values of the undivided stage function to indices. Each value
    /// in the map is computed by this function, and is read by another function
    /// of the same stage. The index is the number of the value among the
    /// results of this function. For example, if the index is 2, this function
    /// returns the value as `results[2]`.
    DenseMap<Value, unsigned> resultOf;
  };

  /// Checks that no op reads a value of a later part of the training step. The
  /// parts are forward pass, backward pass and optimizer update, in this order.
  /// Emits an error and fails if, for example, an op of the forward pass reads
  /// a value of the backward pass. Constants and reads of weights may belong to
  /// any part.
  LogicalResult checkOrder() {
    for (Operation &op : body.without_terminator())
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && !isSourceOp(maker) && partOf(maker) > partOf(&op))
          return op.emitOpError("of part ")
                 << partOf(&op) << " reads a value of part " << partOf(maker)
                 << ", which runs later";
    return success();
  }

  /// Removes the attribute `pipe.part` from all ops of the stage function. The
  /// attribute tells in which function an op belongs after the division. It is
  /// not needed if the stage function is not divided.
  void forgetParts() {
    for (Operation &op : body)
      op.removeAttr(pipe::partName);
  }

  /// Returns the symbol name of the function for `part` of the training step,
  /// such as "stage_0_backward" for the backward pass.
  std::string nameOf(int64_t part) {
    std::string name = stage.getName().str();
    if (part == backwardPart)
      return name + (splitsBackward ? "_input_gradient" : "_backward");
    if (part == weightGradientPart)
      return name + "_weight_gradient";
    if (part < updatePart)
      return name;
    return name + "_update_" + std::to_string(part - updatePart);
  }

  /// Returns the name of the schedule action that runs the function of `part`,
  /// a StagePart. `part` must not be the forward pass: its function has no
  /// attribute `pipe.action`.
  std::string actionOf(int64_t part) const {
    if (part == backwardPart)
      return splitsBackward ? "I" : "B";
    return part == weightGradientPart ? "W"
                                      : "U" + std::to_string(part - updatePart);
  }

  /// Creates the `func.func` of `part` and stores it in `function`. `part` is a
  /// part of the training step, such as the backward pass. The new `func.func`
  /// has an empty body, no arguments and no results.
  void begin(int64_t part, ActionFunction &function) {
    OpBuilder builder(stage);
    function.op = func::FuncOp::create(builder, stage.getLoc(), nameOf(part),
                                       builder.getFunctionType({}, {}));
    function.op->setAttr(pipe::stageName, stage->getAttr(pipe::stageName));
    if (part != forwardPart)
      function.op->setAttr(pipe::actionName,
                           builder.getStringAttr(actionOf(part)));
    function.op.addEntryBlock();
  }

  ActionFunction &functionOf(int64_t part) { return functions.at(part); }

  /// Clones `op`, an op of the stage function, into the function of its part.
  /// The attribute `pipe.part` of `op` tells the part. A `graph.accumulate` is
  /// not cloned: accumulated() chooses the value that replaces its result. Call
  /// this method in block order, because valueIn() needs the values of earlier
  /// ops.
  void copy(Operation *op) {
    const int64_t part = partOf(op);
    ActionFunction &function = functionOf(part);
    if (auto accumulate = dyn_cast<graph::AccumulateOp>(op))
      return function.map.map(accumulate.getResult(),
                              accumulated(accumulate, part));
    for (Value operand : op->getOperands())
      (void)valueIn(part, operand);
    auto builder = OpBuilder::atBlockEnd(&function.op.front());
    builder.clone(*op, function.map)->removeAttr(pipe::partName);
  }

  /// Returns the counterpart of `value`, a value of the stage function, in the
  /// function of `part`. If the counterpart is missing, adds it: for a constant
  /// or the read of a weight, a clone of the op, otherwise an argument.
  Value valueIn(int64_t part, Value value) {
    ActionFunction &function = functionOf(part);
    if (Value known = function.map.lookupOrNull(value))
      return known;
    auto builder = OpBuilder::atBlockEnd(&function.op.front());
    Operation *maker = value.getDefiningOp();
    if (maker && isSourceOp(maker)) {
      builder.clone(*maker, function.map)->removeAttr(pipe::partName);
      return function.map.lookup(value);
    }
    Value made =
        maker ? held(function, value, partOf(maker))
              : addArgument(function, value.getType(),
                            stage.getArgAttrDict(
                                cast<BlockArgument>(value).getArgNumber()),
                            value.getLoc());
    function.map.map(value, made);
    return made;
  }

  /// Appends an argument to the body of `function`, and returns the argument.
  /// The argument has the type `type` and the attributes `attributes`. The type
  /// of the `func.func` does not contain the argument yet. The method finish()
  /// sets this type.
  static Value addArgument(ActionFunction &function, Type type,
                           DictionaryAttr attributes, Location loc) {
    function.argumentAttributes.push_back(attributes);
    return function.op.front().addArgument(type, loc);
  }

  /// Passes `value` from one function to another. `maker` is a part of the
  /// training step, such as the forward pass. The function of this part
  /// computes `value` and returns it as a result. The function `taker` gets a
  /// new argument with this value. The attribute `pipe.held` of the argument
  /// names the function of `maker` and the result. Returns the argument.
  Value held(ActionFunction &taker, Value value, int64_t maker) {
    return addArgument(taker, value.getType(),
                       heldAttributes(value, maker, resultFor(value, maker)),
                       value.getLoc());
  }

  /// Returns the attributes of an argument that takes `value` from another
  /// function of the stage: `pipe.held` and, if `value` has one,
  /// `dist.sharding`. The other function has the ops of the part `maker`, and
  /// `result` is the index of `value` among its results.
  DictionaryAttr heldAttributes(Value value, int64_t maker, unsigned result) {
    NamedAttrList attributes;
    attributes.append(pipe::heldAttr(stage.getContext(),
                                     {functionOf(maker).op.getName(), result}));
    if (dist::ShardingAttr sharding = dist::shardingOf(value))
      attributes.append(dist::shardingName, sharding);
    return attributes.getDictionary(stage.getContext());
  }

  /// Returns the index of `value` among the results of the function that
  /// computes it. Appends `value` to the results if it is missing. `maker` is
  /// the part of the stage (such as the forward pass) that the function
  /// computes.
  unsigned resultFor(Value value, int64_t maker) {
    ActionFunction &function = functionOf(maker);
    auto [entry, isNew] = function.resultOf.insert(
        {value, static_cast<unsigned>(function.results.size())});
    if (isNew)
      addResult(function, function.map.lookup(value), {});
    return entry->second;
  }

  /// Makes `function` return `value` as an additional last result. `attributes`
  /// has the attributes of this result, such as `dist.sharding`. If
  /// `attributes` is null, the result has no attributes.
  void addResult(ActionFunction &function, Value value,
                 DictionaryAttr attributes) {
    function.results.push_back(value);
    function.resultAttributes.push_back(
        attributes ? attributes : DictionaryAttr::get(stage.getContext(), {}));
  }

  /// Returns the value that replaces the result of `op` in the function of
  /// `part`. Usually, `part` is the optimizer update, and the function of
  /// another part, such as the backward pass, computes the gradient once per
  /// microbatch. In this case, the other function gets the sum so far as a new
  /// argument, and returns the new sum. The function of `part` gets the sum
  /// after the last microbatch as an argument. If `op` does not sum over
  /// microbatches, or if `part` itself computes the operand of `op`, this
  /// operand replaces the result.
  Value accumulated(graph::AccumulateOp op, int64_t part) {
    Value value = op.getInput();
    Operation *producer = value.getDefiningOp();
    const int64_t maker = producer ? partOf(producer) : part;
    if (!op.getSums() || maker == part)
      return valueIn(part, value);
    ActionFunction &function = functionOf(maker);
    const auto number = static_cast<unsigned>(function.results.size());
    DictionaryAttr attributes = heldAttributes(op.getResult(), maker, number);
    Value before =
        addArgument(function, value.getType(), attributes, op.getLoc());
    auto builder = OpBuilder::atBlockEnd(&function.op.front());
    auto sum = graph::AddOp::create(builder, op.getLoc(), before,
                                    function.map.lookup(value));
    if (dist::ShardingAttr sharding = dist::shardingOf(op.getResult()))
      dist::setSharding(sum, sharding.getSharding());
    addResult(function, sum, {});
    return addArgument(functionOf(part), value.getType(), attributes,
                       op.getLoc());
  }

  /// Makes each model output that the stage function returns a result of
  /// exactly one of the new functions: the function of the part that computes
  /// the output. If the output is an argument, a weight or a constant, the last
  /// function of the step returns it.
  void returnOutputs() {
    for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
      Operation *maker = operand.get().getDefiningOp();
      const int64_t part = maker && !isSourceOp(maker)
                               ? partOf(maker)
                               : functions.rbegin()->first;
      outputs.push_back({part, operand.getOperandNumber()});
    }
    for (auto [part, number] : outputs)
      addResult(functionOf(part),
                valueIn(part, body.getTerminator()->getOperand(number)),
                stage.getResultAttrDict(number));
  }

  /// Adds the return, the type and the attributes to `function`, which has all
  /// its ops. Moves writes of weights to the end, so that reads get the old
  /// value.
  static void finish(ActionFunction &function) {
    for (auto set :
         llvm::to_vector(function.op.getOps<graph::SetParameterOp>()))
      set->moveBefore(&function.op.front(), function.op.front().end());
    auto builder = OpBuilder::atBlockEnd(&function.op.front());
    func::ReturnOp::create(builder, function.op.getLoc(), function.results);
    function.op.setType(
        builder.getFunctionType(function.op.front().getArgumentTypes(),
                                ValueRange(function.results).getTypes()));
    function.op.setAllArgAttrs(function.argumentAttributes);
    function.op.setAllResultAttrs(function.resultAttributes);
  }

  func::FuncOp stage;
  Block &body;
  bool splitsBackward;
  /// The function of each part (such as the backward pass), in the order of
  /// execution.
  std::map<int64_t, ActionFunction> functions;
  /// A pair of numbers for each output of the model that the stage returns. The
  /// first number is a part of the training step, such as 0 for the forward
  /// pass. The function of this part returns the output. The second number is
  /// the index of the output among the results of the undivided stage function.
  SmallVector<std::pair<int64_t, unsigned>> outputs;
};

struct SplitActions : pcc::schedule::impl::SplitActionsBase<SplitActions> {
  void runOnOperation() override {
    FailureOr<std::optional<plan::ActionTable>> table =
        userActionTable(getOperation());
    if (failed(table))
      return signalPassFailure();
    auto name = getOperation()->getAttrOfType<StringAttr>(pipe::scheduleName);
    auto kind = name ? plan::scheduleByName(name.getValue().str())
                     : std::optional<plan::ScheduleKind>();
    auto splits = [&](int stage) {
      return *table ? plan::splitsBackward(**table, stage)
                    : kind && plan::splitsBackward(*kind);
    };
    auto isBackward = [&](int stage) {
      return *table ? plan::hasBackward(**table, stage) : kind.has_value();
    };
    auto split = [&](func::FuncOp stage) {
      const int number = static_cast<int>(pipe::stageOf(stage));
      return StageSplitter(stage, isBackward(number), splits(number)).run();
    };
    for (auto stage : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (stage->hasAttr(pipe::stageName) && pipe::actionOf(stage) == "F" &&
          failed(split(stage)))
        return signalPassFailure();
  }
};
} // namespace
