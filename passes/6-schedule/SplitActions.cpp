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

/// Returns each op of the forward and backward pass that contributes to at
/// least two gradients of weights. `body` has the ops of a stage. A gradient of
/// a weight is the operand of a `graph.accumulate`. This op usually sums the
/// gradient over all microbatches. In this example, dw and db are the gradients
/// of two weights:
///
///   d = mul y, g        returned: dw and db depend on d
///   dw = matmul x, d    not returned
///   db = reduce d       not returned
///   accumulate dw
///   accumulate db
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

/// Divides the backward pass of a stage into two actions, I and W. I runs
/// before W. I computes the gradients that other stages wait for, and W
/// computes the gradients of weights. `body` has the ops of the stage. An op of
/// the backward pass stays in I in these cases:
///
/// - The stage sends a gradient to another stage, and the sent gradient depends
///   on the op.
/// - The stage sends no gradient, and the gradients of two or more weights
///   depend on the op.
///
/// All other ops of the backward pass go to W.
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
/// Divides one stage function into one function per part, such as forward pass,
/// backward pass and update. Erases the stage function, unless it has only a
/// forward part.
class StageSplitter {
public:
  /// Prepares the call of run(), which divides `stage` into several functions.
  /// `stage` is the function of one pipeline stage. Each new function contains
  /// one part of the training step, such as the forward pass or the optimizer
  /// update. The constructor does not change `stage`.
  ///
  /// - `isBackward`: whether the schedule has a backward pass of the stage.
  /// - `splitsBackward`: whether the schedule splits the backward pass into the
  ///   actions I (input gradient) and W (weight gradient).
  StageSplitter(func::FuncOp stage, bool isBackward, bool splitsBackward)
      : stage(stage), body(stage.front()), splitsBackward(splitsBackward) {
    functions.try_emplace(forwardPart);
    if (isBackward)
      functions.try_emplace(backwardPart);
    if (isBackward && splitsBackward)
      functions.try_emplace(weightGradientPart);
  }

  /// Divides the stage function into one function per part. A part is a part of
  /// the training step. The parts run in the order forward pass, backward pass,
  /// optimizer update. Emits an error and fails if an op reads a value of a
  /// later part than its own. For example, an op of the forward pass must not
  /// read a value of the backward pass.
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

  /// Checks that each op reads only values of its own part or of earlier parts.
  /// A part is a part of the training step. The parts run in the order forward
  /// pass, backward pass, optimizer update. If an op reads a value of a later
  /// part, emits an error and fails. For example, an op of the forward pass
  /// must not read a value of the backward pass. Constants and reads of weights
  /// may belong to any part.
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

  /// Returns the symbol name of the function for a part, such as
  /// "stage_0_backward".
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

  /// Returns the value of the attribute `pipe.action` for the function of
  /// `part`. The value is the name of the schedule action that calls the
  /// function. `part` is a part of the training step. `part` must not be the
  /// forward pass, because the function of the forward pass does not have the
  /// attribute. The names are:
  ///
  ///   "B"             backward pass, if the backward pass is not divided
  ///   "I"             first part of a divided backward pass
  ///   "W"             second part of a divided backward pass
  ///   "U0", "U1", …   parts of the optimizer update; "U0" is the first part
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

  /// Returns the value that replaces `value`, a value of the stage function, in
  /// the function of `part`. Adds the value to this function if it is missing:
  ///
  ///   argument of the stage           new argument with the same attributes
  ///   constant or read of a weight    result of a clone of the op
  ///   value of another op of `part`   value that copy() has mapped before
  ///   result of another part          new argument with attribute `pipe.held`
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

  /// Returns the attributes of a function argument that takes `value` from
  /// another function of the stage. The other function has the ops of the part
  /// `maker`, such as the forward pass. The other function returns `value` as
  /// result number `result`. The attributes are:
  ///
  /// - `pipe.held` has the symbol of the other function and the number
  ///   `result`.
  /// - `dist.sharding` has the sharding of `value`. This attribute is absent if
  ///   `value` has no sharding.
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
  /// `part`. Example: B (backward pass) computes a gradient per microbatch, and
  /// U0 (weight update) reads its sum. Both functions get an argument `sum`:
  ///
  ///   B(sum)    also returns sum + gradient; the next call of B gets this sum
  ///   U0(sum)   gets the sum that the last call of B returned
  ///
  /// Returns the operand of `op` instead if `op` has no attribute `sums`, or if
  /// no other part computes the operand.
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

  /// Makes the new functions return the outputs of the model. This class
  /// divides the stage function into several new functions. Each new function
  /// contains one part of the training step, such as the forward pass or the
  /// optimizer update. The stage function returns some outputs of the model.
  /// Exactly one new function must return each of these outputs:
  ///
  /// - If an op of a part computes the output, the function of this part
  ///   returns the output.
  /// - The output can also be an argument of the stage function, the value of a
  ///   weight, or a constant. In this case, the function that runs last in the
  ///   training step returns the output.
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

  /// Completes `function`, which contains one part of the training step.
  /// Examples of a part are the backward pass and the optimizer update. The
  /// body of `function` already contains all ops of this part. The method does
  /// three things:
  ///
  /// 1. Move each op that writes a weight to the end of the body. All ops that
  ///    read the weight then run earlier, and read the old value.
  /// 2. Add the `func.return`.
  /// 3. Set the function type, and the attributes of the arguments and results.
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
