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

/// Returns the ops of `body` that a send of the backward pass depends on.
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

/// Returns the ops that the gradients of two or more weights depend on.
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

/// Divides the backward ops of a stage between the actions I (input gradient)
/// and W (weight gradient). These ops stay in I; all others go to W:
///
/// - if the stage sends a gradient: the ops that the sent gradient depends on;
/// - otherwise: the ops that the gradients of two or more weights depend on.
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
  /// Prepares the division of the function `stage`.
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

  /// Divides the stage function into one function per part, such as forward and
  /// backward pass. Emits an error and fails if an op reads a value of a later
  /// part.
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
    /// Maps values of the stage function to values of this function.
    IRMapping map;
    /// Values that this function returns: values that other functions read, and
    /// outputs of the model.
    SmallVector<Value> results;
    SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
    /// For each value that another function reads: its index in `results`, the
    /// list of values that this function returns.
    DenseMap<Value, unsigned> resultOf;
  };

  /// Checks that no op reads a value of a later part (such as the backward
  /// pass). Emits an error if one does.
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

  /// Removes `pipe.part` from all ops of the stage function.
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

  /// Returns the name of the action of a part: "B" for the backward pass, "U0"
  /// for the first part of the update. `part` must not be the forward part.
  std::string actionOf(int64_t part) const {
    if (part == backwardPart)
      return splitsBackward ? "I" : "B";
    return part == weightGradientPart ? "W"
                                      : "U" + std::to_string(part - updatePart);
  }

  /// Creates an empty function for one part of the stage, such as the backward
  /// pass. The function has no arguments and no results yet.
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

  /// Clones `op` into the function of its part of the training step, such as
  /// the backward pass. A `graph.accumulate` is not cloned. The method
  /// `accumulated` replaces the result of the `graph.accumulate` by another
  /// value, usually the sum of the operand over all microbatches. An example of
  /// an operand is the gradient of a weight.
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

  /// Returns the value that the function of `part` (such as the backward pass)
  /// reads in place of `value`, a value of the stage function:
  ///
  /// - an argument, if `value` is an argument of the stage function, or if the
  ///   function of another part computes it;
  /// - otherwise the result of a clone.
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

  /// Appends an argument to the body of `function` and returns it. The
  /// function's type is set later, by `finish`.
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
  /// function of the stage. The other function computes the part `maker` (such
  /// as the forward pass), and returns `value` as result number `result`.
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

  /// Appends `value` to the results of `function`. `attributes` may be null.
  void addResult(ActionFunction &function, Value value,
                 DictionaryAttr attributes) {
    function.results.push_back(value);
    function.resultAttributes.push_back(
        attributes ? attributes : DictionaryAttr::get(stage.getContext(), {}));
  }

  /// Returns a value that replaces the result of `op`, a `graph.accumulate`.
  /// The value usually is the sum of the operand of `op` over all microbatches.
  /// `part` is a part of the training step, such as U0 (the first part of the
  /// optimizer update). The function of `part` reads the sum.
  ///
  /// Another function, such as B (backward pass), computes the operand once per
  /// microbatch. This function gets a new argument, the sum of the earlier
  /// microbatches, and a new result, the sum with the current microbatch:
  ///
  ///   B(sum)    returns sum + gradient of the current microbatch
  ///   U0(sum)   reads the sum that the last call of B returned
  ///
  /// The returned value is the new argument of the function of `part`, U0 in
  /// the example.
  ///
  /// Creates no sum in two cases: the operand is equal in all microbatches, or
  /// no other function computes the operand. Then returns the value of the
  /// operand in the function of `part`.
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

  /// Adds each output of the model that this stage returns to the results of
  /// the function that computes the output. No function computes an output that
  /// is an argument of the stage, a weight or a constant. The function of the
  /// stage that runs last returns this output.
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

  /// Completes `function`: adds terminator and type, and moves writes of
  /// weights to the end, after all reads.
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
