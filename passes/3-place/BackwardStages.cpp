//===- BackwardStages.cpp - stages of backward and update ops -------------===//

#include "passes/3-place/BackwardStages.h"
#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

static bool isPlaced(Operation *op) { return op->hasAttr(pipe::stageName); }

static void setStage(Operation *op, int64_t stage) {
  op->setAttr(pipe::stageName,
              Builder(op->getContext()).getI64IntegerAttr(stage));
}

namespace {
/// Sets the pipeline stage of each op of the backward pass and of the weight
/// update. For example, the backward op of a matmul gets the stage of the
/// matmul. An op that updates only the weight w gets the first stage that reads
/// w. The comment of placeBackwardAndUpdate() lists all rules.
class BackwardStagePlacer {
public:
  BackwardStagePlacer(func::FuncOp function, const ForwardChain &chain)
      : function(function), chain(chain) {}

  /// Sets the attribute `pipe.stage` on all ops of the backward pass and of the
  /// weight update. Then removes `graph.number`, `graph.mirrors` and
  /// `graph.updates` from all ops.
  void run() {
    for (Operation &op : function.front().without_terminator()) {
      if (auto number = op.getAttrOfType<IntegerAttr>(graph::numberName))
        numbered[number.getInt()] = &op;
      if (auto get = dyn_cast<graph::GetParameterOp>(op))
        reads[get.getParameter()].push_back(get);
    }
    // Place the writes of parameters last. Each stage that reads a parameter
    // gets a clone of the parameter's write. Backward ops and update ops may
    // read the parameter too, so they must have their stages before.
    for (Operation *op : chain.followers())
      if (!isa<graph::SetParameterOp>(op))
        place(op);
    for (Operation *op : chain.followers())
      if (auto set = dyn_cast<graph::SetParameterOp>(op))
        placeWrite(set);
    for (Operation &op : function.front())
      for (StringRef name :
           {graph::numberName, graph::mirrorsName, graph::updatesName})
        op.removeAttr(name);
  }

private:
  /// Sets the stage of `op`, an op of the backward pass or of the weight
  /// update. If an op of the backward pass or of the weight update computes an
  /// operand of `op`, that op must have a stage already. If `op` is a concat of
  /// the weight update, the function first calls sendTogether(). This call
  /// reduces the number of values that the stages send to the concat.
  void place(Operation *op) {
    if (auto concat = dyn_cast<graph::ConcatOp>(op);
        concat && !op->hasAttr(graph::mirrorsName))
      sendTogether(concat);
    setStage(op, stageFor(op));
  }

  /// Returns the pipeline stage of `op`, an op of the backward pass or of the
  /// weight update. The comment of placeBackwardAndUpdate() lists the rules.
  int64_t stageFor(Operation *op) {
    if (auto weight = op->getAttrOfType<FlatSymbolRefAttr>(graph::updatesName);
        weight && !isa<graph::AccumulateOp>(op))
      return ownerOf(weight.getValue());
    if (auto number = op->getAttrOfType<IntegerAttr>(graph::mirrorsName))
      if (Operation *mirrored = numbered.lookup(number.getInt());
          mirrored && isPlaced(mirrored))
        return pipe::stageOf(mirrored);
    if (isa<graph::AccumulateOp>(op) || op->hasAttr(graph::mirrorsName))
      return stageOfOperands(op);
    return 0;
  }

  /// Returns the stage of the last operand of `op` that has a stage. Returns 0
  /// if no operand has a stage. The stage of an operand is the stage of the op
  /// that computes the operand. For example, stage 1 computes the first operand
  /// of `op`, stage 2 computes the second operand, and the third operand has no
  /// stage. The result is 2.
  static int64_t stageOfOperands(Operation *op) {
    for (Value operand : llvm::reverse(op->getOperands()))
      if (Operation *maker = operand.getDefiningOp(); maker && isPlaced(maker))
        return pipe::stageOf(maker);
    return 0;
  }

  /// Adds the pipeline stages of all ops that read the result of `get`, a
  /// `graph.get_parameter`, to `stages`. Looks through cheap ops without a
  /// stage, such as a transpose, to the ops that read their results.
  void addReaders(Operation *get, std::set<int64_t> &stages) const {
    for (Operation *user : get->getUsers())
      if (isPlaced(user))
        stages.insert(pipe::stageOf(user));
      else if (chain.isFree(user) && user->getNumResults() > 0)
        addReaders(user, stages);
  }

  /// Returns the stages of all ops that read the parameter called `parameter`.
  std::set<int64_t> readersOf(StringRef parameter) const {
    std::set<int64_t> stages;
    for (Operation *get : reads.lookup(parameter))
      addReaders(get, stages);
    return stages;
  }

  /// Returns the stage that updates the parameter called `parameter`: the first
  /// stage that reads the parameter, or 0 if no stage reads it. Looks at the
  /// readers once for each parameter. Ops that are placed later do not change
  /// the result: an op of the backward pass that reads the parameter has the
  /// stage of a forward op that reads it.
  int64_t ownerOf(StringRef parameter) {
    if (auto known = owners.find(parameter); known != owners.end())
      return known->second;
    const std::set<int64_t> stages = readersOf(parameter);
    return owners[parameter] = stages.empty() ? 0 : *stages.begin();
  }

  /// Places the write `set` of a parameter on every stage that reads the
  /// parameter, as one clone per stage.
  void placeWrite(graph::SetParameterOp set) {
    std::set<int64_t> stages = readersOf(set.getParameter());
    if (stages.empty())
      stages.insert(stageOfOperands(set));
    setStage(set, *stages.begin());
    for (int64_t stage : llvm::drop_begin(stages)) {
      OpBuilder builder(set);
      builder.setInsertionPointAfter(set);
      setStage(builder.clone(*set), stage);
    }
  }

  /// Reduces the number of values that stages send to `concat`, which runs on
  /// stage 0. If another stage computes several operands, that stage
  /// concatenates them and sends one value. Stage 0 slices this value into the
  /// operands again.
  void sendTogether(graph::ConcatOp concat) {
    llvm::MapVector<int64_t, SmallVector<OpOperand *>> byStage;
    for (OpOperand &operand : concat->getOpOperands())
      if (Operation *maker = operand.get().getDefiningOp();
          maker && isPlaced(maker) && pipe::stageOf(maker) != 0)
        byStage[pipe::stageOf(maker)].push_back(&operand);
    OpBuilder builder(concat);
    for (auto &[stage, operands] : byStage)
      if (operands.size() > 1)
        join(builder, concat, stage, operands);
  }

  /// Makes the stage `stage` send the values `operands` to stage 0 as one
  /// value. Each element of `operands` is an operand of `concat` that an op on
  /// the stage `stage` computes. The function creates a concat of these
  /// operands on the stage `stage`. For each operand, the function then creates
  /// a slice of the result on stage 0. The slice is equal to the operand, and
  /// replaces the operand in `concat`.
  static void join(OpBuilder &builder, graph::ConcatOp concat, int64_t stage,
                   ArrayRef<OpOperand *> operands) {
    SmallVector<Value> parts;
    for (OpOperand *operand : operands)
      parts.push_back(operand->get());
    auto joined = graph::ConcatOp::create(builder, concat.getLoc(), parts,
                                          concat.getDim());
    setStage(joined, stage);
    SmallVector<int64_t> starts(graph::tensorType(joined).getRank(), 0),
        steps(starts.size(), 1);
    for (OpOperand *operand : operands) {
      auto shape = graph::tensorType(operand->get()).getShape();
      auto part = graph::SliceOp::create(builder, concat.getLoc(), joined,
                                         starts, shape, steps);
      setStage(part, 0);
      operand->set(part);
      starts[concat.getDim()] += shape[concat.getDim()];
    }
  }

  func::FuncOp function;
  const ForwardChain &chain;
  /// Maps numbers to forward ops. The attribute `graph.number` of a forward op
  /// holds the number of the op. The attribute `graph.mirrors` of a backward op
  /// holds the number of the forward op whose gradient the backward op
  /// computes.
  DenseMap<int64_t, Operation *> numbered;
  /// The `graph.get_parameter` ops that read each parameter, by the parameter's
  /// symbol name.
  llvm::StringMap<SmallVector<Operation *, 2>> reads;
  /// The stage that updates each parameter, by the parameter's symbol name.
  llvm::StringMap<int64_t> owners;
};
} // namespace

void pcc::place::placeBackwardAndUpdate(func::FuncOp function,
                                        const ForwardChain &chain) {
  BackwardStagePlacer(function, chain).run();
}
