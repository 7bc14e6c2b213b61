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
/// Sets the pipeline stages of followers (ops of the backward pass and the
/// update) by the rules in BackwardStages.h.
class BackwardStagePlacer {
public:
  BackwardStagePlacer(func::FuncOp function, const ForwardChain &chain)
      : function(function), chain(chain) {}

  /// Sets the stages of all followers (backward and update ops). Then removes
  /// the attributes that only this class needs.
  void run() {
    for (Operation &op : function.front().without_terminator()) {
      if (auto number = op.getAttrOfType<IntegerAttr>(graph::numberName))
        numbered[number.getInt()] = &op;
      if (auto get = dyn_cast<graph::GetParameterOp>(op))
        reads[get.getParameter()].push_back(get);
    }
    // Place writes of parameters last. A write lies on the stages of all ops
    // that read the parameter, and these may be followers (backward ops).
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
  /// Sets the stage of `op`, an op of the backward pass or the update. The ops
  /// that compute its operands must have a stage already. Exception: cheap
  /// forward ops, such as masks (free ops), get their stages later.
  void place(Operation *op) {
    if (auto concat = dyn_cast<graph::ConcatOp>(op);
        concat && !op->hasAttr(graph::mirrorsName))
      sendTogether(concat);
    setStage(op, stageFor(op));
  }

  /// Returns the stage of `op`, an op of the backward pass or the update:
  ///
  ///   op                                        stage
  ///   update op of a single weight              stage that updates the weight
  ///   backward op of a forward op with a stage  stage of the forward op
  ///   other backward op                         stage of last placed operand
  ///   any other op                              stage 0
  ///
  /// A `graph.accumulate` counts as a backward op.
  int64_t stageFor(Operation *op) const {
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

  /// Returns the stage of the last operand of `op` that has a stage already; 0
  /// if none has. Cheap forward ops, such as masks (free ops), get their stages
  /// later.
  static int64_t stageOfOperands(Operation *op) {
    for (Value operand : llvm::reverse(op->getOperands()))
      if (Operation *maker = operand.getDefiningOp(); maker && isPlaced(maker))
        return pipe::stageOf(maker);
    return 0;
  }

  /// Adds to `stages` the stages of all ops that read the weight `get`. An op
  /// may also read it through a cheap op that has no stage yet, such as a
  /// transpose of the weight.
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
    auto it = reads.find(parameter);
    if (it != reads.end())
      for (Operation *get : it->second)
        addReaders(get, stages);
    return stages;
  }

  /// Returns the stage that updates the parameter called `parameter`: the first
  /// stage that reads the parameter, or 0 if no stage reads it.
  int64_t ownerOf(StringRef parameter) const {
    const std::set<int64_t> stages = readersOf(parameter);
    return stages.empty() ? 0 : *stages.begin();
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

  /// Makes each stage send its operands of `concat` as one value. The stage
  /// concatenates them; stage 0, where `concat` runs, slices them again. An
  /// example with two operands from stage 1:
  ///
  ///   concat %a, %b, %c    ->   %t = concat %b, %c {pipe.stage = 1}
  ///                             concat %a, slice %t, slice %t {pipe.stage = 0}
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

  /// Makes a stage send `operands`, values that it computes, to stage 0 as one
  /// value. The op `concat` on stage 0 reads these values. Creates a concat of
  /// them on `stage`, and slices of its result on stage 0. `concat` then reads
  /// the slices.
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
  /// Forward ops by number. `graph.number` of a forward op and `graph.mirrors`
  /// of its backward ops hold the number.
  DenseMap<int64_t, Operation *> numbered;
  /// The `graph.get_parameter` ops that read each parameter, by the parameter's
  /// symbol name.
  llvm::StringMap<SmallVector<Operation *, 2>> reads;
};
} // namespace

void pcc::place::placeBackwardAndUpdate(func::FuncOp function,
                                        const ForwardChain &chain) {
  BackwardStagePlacer(function, chain).run();
}
