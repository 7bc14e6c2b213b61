//===- OutlineStages.cpp - one function per stage -------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/StageParts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "outline-stages"

namespace pcc::schedule {
#define GEN_PASS_DEF_OUTLINESTAGES
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

namespace {
/// Builds the function of one pipeline stage. The class clones the ops of the
/// stage from the function of the whole model into a new function. The tensors
/// in both functions have the shapes of one microbatch. If the model is
/// trained, each op of the new function gets the attribute `pipe.part`. This
/// attribute is the number of the part of the training step in which the op
/// runs. For example, 0 is the forward pass, and 1 is the backward pass.
class StageOutliner {
public:
  StageOutliner(func::FuncOp model, int64_t stage,
                const std::optional<StageParts> &parts)
      : model(model), stage(stage), parts(parts) {}

  /// Builds the function of the stage, and returns it. The function stands
  /// directly above the function of the model in the module. `names` has a name
  /// for each value that one stage sends to another stage.
  func::FuncOp run(const DenseMap<Value, std::string> &names) {
    collect();
    SmallVector<Type> inputs, outputs;
    for (unsigned i : arguments)
      inputs.push_back(model.getArgument(i).getType());
    for (unsigned i : results)
      outputs.push_back(returned(i).getType());
    OpBuilder builder(model);
    auto function = func::FuncOp::create(
        builder, model.getLoc(), "stage_" + std::to_string(stage),
        builder.getFunctionType(inputs, outputs));
    function->setAttr(pipe::stageName, builder.getI64IntegerAttr(stage));
    function.setAllArgAttrs(llvm::map_to_vector(
        arguments, [&](unsigned i) { return model.getArgAttrDict(i); }));
    function.setAllResultAttrs(llvm::map_to_vector(
        results, [&](unsigned i) { return model.getResultAttrDict(i); }));
    fill(function, names);
    return function;
  }

private:
  /// Returns the value that the model returns as its result number `result`.
  Value returned(unsigned result) {
    return model.front().getTerminator()->getOperand(result);
  }

  /// Returns the number of the stage whose function returns `value`, an output
  /// of the model. If a stage computes `value`, returns the number of this
  /// stage. If `value` is an input of the model, no stage computes it. Returns
  /// 0 in this case.
  static int64_t stageOfValue(Value value) {
    return value.getDefiningOp() ? pipe::stageOf(value.getDefiningOp()) : 0;
  }

  /// Fills the members `arguments` and `results`. `arguments` gets the index of
  /// each argument of the model that the stage reads. `results` gets the index
  /// of each result of the model that the stage returns. Both members contain
  /// the indices in ascending order, such as 0, 2, 5.
  void collect() {
    auto note = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        arguments.insert(argument.getArgNumber());
    };
    for (Operation &op : model.front().without_terminator())
      if (pipe::stageOf(&op) == stage && !isa<pipe::TransferOp>(op))
        llvm::for_each(op.getOperands(), note);
    for (unsigned i = 0; i < model.getNumResults(); ++i)
      if (stageOfValue(returned(i)) == stage) {
        results.push_back(i);
        note(returned(i));
      }
    llvm::sort(order = arguments.takeVector());
    arguments.insert(order.begin(), order.end());
  }

  /// Fills the body of `function` with clones of the ops of the stage, in model
  /// order. A transfer to the stage becomes a receive at the same place. A
  /// transfer from the stage becomes a send at the end. `names` has the name of
  /// each sent value.
  void fill(func::FuncOp function, const DenseMap<Value, std::string> &names) {
    Block *block = function.addEntryBlock();
    auto builder = OpBuilder::atBlockEnd(block);
    IRMapping map;
    for (auto [to, from] : llvm::enumerate(arguments))
      map.map(model.getArgument(from), block->getArgument(to));
    SmallVector<pipe::TransferOp> sends;
    for (Operation &op : model.front().without_terminator()) {
      auto transfer = dyn_cast<pipe::TransferOp>(op);
      if (transfer && static_cast<int64_t>(transfer.getFrom()) == stage)
        sends.push_back(transfer);
      if (transfer && static_cast<int64_t>(transfer.getTo()) == stage) {
        Value received = receive(builder, transfer, names);
        map.map(transfer.getResult(), received);
        markPart(received.getDefiningOp(), &op, /*arrives=*/true);
      } else if (!transfer && pipe::stageOf(&op) == stage) {
        Operation *clone = builder.clone(op, map);
        clone->removeAttr(pipe::stageName);
        markPart(clone, &op);
      }
    }
    for (pipe::TransferOp transfer : sends)
      markPart(pipe::SendOp::create(
                   builder, transfer.getLoc(), map.lookup(transfer.getInput()),
                   transfer.getTo(), names.lookup(transfer.getInput())),
               transfer);
    SmallVector<Value> outputs;
    for (unsigned i : results)
      outputs.push_back(map.lookup(returned(i)));
    func::ReturnOp::create(builder, model.getLoc(), outputs);
  }

  /// Sets the attribute `pipe.part` of `op` to the number of the function that
  /// will contain `op`, such as 1 for the backward function. `op` was created
  /// from the op `of` of the model. `arrives` must be true if `op` is a
  /// receive: it may run in a later function than its send. Does nothing if the
  /// model is not trained.
  void markPart(Operation *op, Operation *of, bool arrives = false) const {
    if (parts)
      op->setAttr(pipe::partName,
                  Builder(op->getContext())
                      .getI64IntegerAttr(arrives ? parts->ofArrival(of)
                                                 : parts->of(of)));
  }

  /// Creates a `pipe.receive` and returns its result. `transfer` is an op of
  /// the model that passes a value from one stage to another stage. The sending
  /// stage gets a `pipe.send` of the value, and the receiving stage gets this
  /// `pipe.receive`. The result has the sharding of the result of `transfer`.
  /// `names` has the name of each value that one stage sends to another.
  /// `builder` inserts the new op.
  static Value receive(OpBuilder &builder, pipe::TransferOp transfer,
                       const DenseMap<Value, std::string> &names) {
    auto received = pipe::ReceiveOp::create(
        builder, transfer.getLoc(), transfer.getType(), transfer.getFrom(),
        builder.getStringAttr(names.lookup(transfer.getInput())));
    if (dist::ShardingAttr sharding = dist::shardingOf(transfer.getResult()))
      dist::setSharding(received, sharding.getSharding());
    return received;
  }

  func::FuncOp model;
  int64_t stage;
  const std::optional<StageParts> &parts;
  /// Indices of the model's arguments that the stage reads; ascending after
  /// collect().
  llvm::SmallSetVector<unsigned, 8> arguments;
  /// Temporary list that collect() uses. The member `arguments` contains
  /// indices of arguments of the model. The indices in a SmallSetVector cannot
  /// be sorted. collect() therefore moves the indices to `order`, sorts them
  /// there, and inserts them into `arguments` again.
  SmallVector<unsigned, 0> order;
  /// Indices of the model's results that the stage returns, ascending.
  SmallVector<unsigned> results;
};
} // namespace

/// Returns a name for each value that one stage sends to other stages. The name
/// consists of the name of an ONNX node, a `#` and a number. The location of
/// the value (mlir::Location) contains the name of the node. The number makes
/// the name unique. For example, the first two values may get the names
/// "matmul_3#0" and "relu_7#1".
static DenseMap<Value, std::string> nameTransfers(func::FuncOp model) {
  DenseMap<Value, std::string> names;
  for (auto transfer : model.getOps<pipe::TransferOp>()) {
    Value value = transfer.getInput();
    if (!names.contains(value))
      names[value] =
          (graph::nodeName(value.getLoc()) + "#" + Twine(names.size())).str();
  }
  return names;
}

namespace {
struct OutlineStages : pcc::schedule::impl::OutlineStagesBase<OutlineStages> {
  void runOnOperation() override {
    auto model = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!model) {
      getOperation().emitError()
          << "phase '6-schedule' needs the model in @main";
      return signalPassFailure();
    }
    auto stages = getOperation()->getAttrOfType<IntegerAttr>(pipe::stagesName);
    DenseMap<Value, std::string> names = nameTransfers(model);
    std::optional<StageParts> parts;
    if (graph::isTraining(model.front()))
      parts.emplace(model.front());
    for (int64_t stage = 0, end = stages ? stages.getInt() : 1; stage < end;
         ++stage) {
      StageOutliner(model, stage, parts).run(names);
      LDBG() << "outlined stage " << stage;
      ++numStages;
    }
    recordOrder(model);
    model.erase();
  }

  /// Sets the module attributes `graph.inputs` and `graph.outputs`.
  /// `graph.inputs` is an array with one dictionary for each input of `model`,
  /// in the order of the inputs. The dictionary has all attributes of the
  /// input, such as the name and the sharding. `graph.outputs` has the same
  /// data for each output. Later passes need the order of the inputs, but each
  /// stage function takes only the inputs that the stage reads.
  void recordOrder(func::FuncOp model) {
    SmallVector<Attribute> inputs, outputs;
    Builder builder(&getContext());
    auto orEmpty = [&](DictionaryAttr attributes) {
      return attributes ? attributes : builder.getDictionaryAttr({});
    };
    for (unsigned i = 0; i < model.getNumArguments(); ++i)
      inputs.push_back(orEmpty(model.getArgAttrDict(i)));
    for (unsigned i = 0; i < model.getNumResults(); ++i)
      outputs.push_back(orEmpty(model.getResultAttrDict(i)));
    getOperation()->setAttr(graph::inputsName, builder.getArrayAttr(inputs));
    getOperation()->setAttr(graph::outputsName, builder.getArrayAttr(outputs));
  }
};
} // namespace
