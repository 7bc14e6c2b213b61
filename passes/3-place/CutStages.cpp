//===- CutStages.cpp - assignment of ops to pipeline stages ---------------===//

#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/3-place/BackwardStages.h"
#include "passes/3-place/EvenCut.h"
#include "passes/3-place/Passes.h"
#include "passes/3-place/RefusedCut.h"
#include "runtime/base/QuantityText.h"
#include "status/Counted.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#include <set>

#define DEBUG_TYPE "cut-stages"

namespace pcc::place {
#define GEN_PASS_DEF_CUTSTAGES
#include "passes/3-place/Passes.h.inc"
} // namespace pcc::place

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

static void setStage(Operation *op, int64_t stage) {
  op->setAttr(pipe::stageName,
              Builder(op->getContext()).getI64IntegerAttr(stage));
}

namespace {
/// Assigns each op of a function to a pipeline stage. The stage planner cuts
/// the list of forward ops with much work, such as matmuls, into stages.
/// BackwardStages.h gives stages to the backward pass and the weight update.
/// Cheap ops, such as masks, are cloned onto each stage that reads the result.
/// An op `pipe.transfer` sends a value to another stage.
class StagePlacer {
public:
  /// `stageAt` lists nodes before which the model is cut (--stage-at).
  /// `stageOfNodes` maps node names to stages (ONNX annotations). Both may be
  /// null.
  StagePlacer(func::FuncOp function, int numStages, ArrayAttr stageAt,
              DictionaryAttr stageOfNodes)
      : function(function), numStages(numStages), stageAt(stageAt),
        stageOfNodes(stageOfNodes), trains(graph::isTraining(function.front())),
        chain(function, ForwardChain::Links::WithWork) {
    if (!hasLinkForEachStage())
      chain = ForwardChain(function, ForwardChain::Links::OfInputs);
  }

  /// Sets the stage of each op, and creates the ops that send values between
  /// stages. The user can choose where stages begin, with --stage-at or
  /// annotations of ONNX nodes. Otherwise, a planner balances the times. Fails
  /// if the model cannot be cut where the user chooses.
  LogicalResult run() {
    // The planner needs at least one link (forward op that only one stage
    // runs). A model without links has only cheap ops, such as masks, which fit
    // on one stage.
    if (numStages == 1 && chain.links().empty()) {
      placeBackwardAndUpdate(function, chain);
      placeFreeOps();
      return success();
    }
    plan::StageCutRequest request = chain.request(numStages);
    if (failed(pinCuts(request)) || failed(pinStages(request)))
      return failure();
    plan::StageCut cut = cutEvenly(function, request);
    if (!cut.error.empty())
      return emitError(UnknownLoc::get(function.getContext()))
             << "cannot cut the model into " << counted(numStages, "stage")
             << ": " << cut.error;
    for (auto [op, stage] :
         llvm::zip_equal(chain.links(), cut.stageOfItems(chain.links().size())))
      setStage(op, stage);
    placeBackwardAndUpdate(function, chain);
    placeFreeOps();
    insertTransfers();
    remarkOnIdleStages();
    return success();
  }

  /// Number of transfers between stages, and number of clones. A cheap op, such
  /// as a mask, is cloned onto each stage that uses it.
  unsigned numTransfers = 0, numClones = 0;

private:
  /// Emits a remark if a stage has no op that executes floating-point
  /// operations.
  void remarkOnIdleStages() {
    std::set<int64_t> busy;
    for (Operation &op : function.front())
      if (auto cost = dyn_cast<graph::CostOpInterface>(op);
          cost && cost.getFlops() > 0)
        busy.insert(pipe::stageOf(&op));
    const auto count = static_cast<int>(busy.size());
    if (count > 0 && count < numStages)
      emitRemark(UnknownLoc::get(function.getContext()))
          << numStages - count << " of " << counted(numStages, "stage")
          << (numStages - count == 1 ? " computes" : " compute")
          << " nothing: the model has too few ops to cut; "
             "`pcc explain` shows the stages";
  }

  /// Returns whether the model has enough links (forward ops that exactly one
  /// stage runs). Each node in `stageAt` (--stage-at), before which the user
  /// cuts the model, needs a link before the cut and one after it. If there are
  /// several stages, there must be at least as many links as stages. If
  /// `stageOfNodes` (ONNX annotations) is given, it must then put at least one
  /// link on each stage.
  bool hasLinkForEachStage() const {
    if (!chain.hasLinksAround(stageAt))
      return false;
    std::set<int64_t> annotated;
    for (Operation *op : chain.links())
      if (const std::optional<int64_t> stage = annotatedStage(op))
        annotated.insert(*stage);
    const auto wanted = static_cast<size_t>(numStages);
    return numStages == 1 || (chain.links().size() >= wanted &&
                              (!stageOfNodes || annotated.size() == wanted));
  }

  /// Returns the stage that an ONNX annotation gives to the node of `op`.
  /// Returns std::nullopt without an annotation, and for a stage that the
  /// pipeline does not have.
  std::optional<int64_t> annotatedStage(Operation *op) const {
    const StringRef node = graph::nodeName(op->getLoc());
    if (!stageOfNodes || node.empty())
      return std::nullopt;
    auto stage = stageOfNodes.getAs<IntegerAttr>(node);
    if (!stage || stage.getInt() >= numStages)
      return std::nullopt;
    return stage.getInt();
  }

  /// Appends to `request.pinned` the links at which a stage must begin. For
  /// each name in `stageAt`, this is the index of the first link (forward op
  /// that exactly one stage runs) at or after the node or value with this name.
  /// Emits an error if there are not `numStages` - 1 names, if a name does not
  /// exist, or if the first or the last stage would have no link.
  LogicalResult pinCuts(plan::StageCutRequest &request) {
    if (!stageAt || stageAt.empty())
      return success();
    Location nowhere = UnknownLoc::get(function.getContext());
    if (static_cast<int>(stageAt.size()) != numStages - 1)
      return emitError(nowhere) << runtime::countText(numStages, "stage")
                                << (numStages == 1 ? " needs " : " need ")
                                << runtime::countText(numStages - 1, "cut")
                                << ", got " << stageAt.size();
    for (StringAttr name : stageAt.getAsRange<StringAttr>()) {
      auto cut = chain.findCut(name);
      const bool isAfterLast = cut == chain.links().size();
      if (!cut || *cut == 0 || isAfterLast)
        return emitError(cut && !isAfterLast ? chain.links().front()->getLoc()
                                             : nowhere)
               << "cannot cut before '" << name.getValue()
               << "': " << describeRefusedCut(function, chain, name);
      request.pinned.push_back(*cut);
    }
    llvm::sort(request.pinned);
    return success();
  }

  /// Makes stage s > 0 begin at the first link (forward op that only one stage
  /// runs) that an ONNX annotation puts on stage s. Appends the indices of
  /// these links to `request.pinned`. Emits an error if a link is put on an
  /// earlier stage than a link before it, or if a stage would have no link.
  LogicalResult pinStages(plan::StageCutRequest &request) {
    if (!stageOfNodes)
      return success();
    std::vector<std::optional<size_t>> begins(numStages);
    int64_t reached = 0;
    Operation *last = nullptr;
    for (auto [position, op] : llvm::enumerate(chain.links())) {
      const std::optional<int64_t> stage = annotatedStage(op);
      if (!stage)
        continue;
      if (*stage < reached)
        return emitError(op->getLoc())
               << "cannot put node '" << graph::nodeName(op->getLoc())
               << "' on stage " << *stage << ": node '"
               << graph::nodeName(last->getLoc()) << "' of stage " << reached
               << " comes before it, and stages are cut in the order of nodes";
      if (*stage > reached || !begins[reached])
        begins[*stage] = position;
      reached = *stage;
      last = op;
    }
    for (int stage = 1; stage < numStages; ++stage) {
      bool isEmpty = !begins[stage];
      if (isEmpty || *begins[stage] == 0)
        return emitError(isEmpty ? UnknownLoc::get(function.getContext())
                                 : chain.links().front()->getLoc())
               << "cannot cut the model into " << counted(numStages, "stage")
               << " as annotated: no node with work is on stage "
               << (isEmpty ? stage : stage - 1);
      request.pinned.push_back(*begins[stage]);
    }
    return success();
  }

  /// Returns the stages that read the results of `op`, in ascending order, or
  /// [0] if no stage does. In a training step, the return counts as an op on
  /// stage 0. In inference, each stage returns the outputs that it computes.
  SmallVector<int64_t> stagesOfUsers(Operation *op) const {
    llvm::SmallSetVector<int64_t, 4> stages;
    for (Operation *user : op->getUsers())
      if (!isa<func::ReturnOp>(user))
        stages.insert(pipe::stageOf(user));
      else if (trains)
        stages.insert(0);
    if (stages.empty())
      stages.insert(0);
    SmallVector<int64_t> sorted(stages.begin(), stages.end());
    llvm::sort(sorted);
    return sorted;
  }

  /// Gives each free op (cheap op, such as a mask) the first stage that reads
  /// its result. Each other stage that reads the result gets a clone. The loop
  /// runs in reverse, because the readers need their stages first.
  void placeFreeOps() {
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(function.front().without_terminator()))) {
      if (!chain.isFree(&op) || op.hasAttr(pipe::stageName))
        continue;
      SmallVector<int64_t> stages = stagesOfUsers(&op);
      setStage(&op, stages.front());
      for (int64_t stage : llvm::drop_begin(stages))
        cloneInto(&op, stage);
    }
  }

  /// Clones `op` onto the stage `stage`. The users of `op` on that stage then
  /// read the clone. A clone that reads a weight gets the location, and thus
  /// the node name, of the first of these users: the node of `op` runs on
  /// another stage.
  void cloneInto(Operation *op, int64_t stage) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Operation *clone = builder.clone(*op);
    setStage(clone, stage);
    ++numClones;
    LDBG() << "clone " << op->getName() << " into stage " << stage;
    op->replaceUsesWithIf(clone->getResults(), [&](OpOperand &use) {
      return !isa<func::ReturnOp>(use.getOwner()) &&
             pipe::stageOf(use.getOwner()) == stage;
    });
    if (isa<graph::GetParameterOp>(clone)) {
      auto isBefore = [](Operation *one, Operation *other) {
        return one->isBeforeInBlock(other);
      };
      clone->setLoc(
          (*llvm::min_element(clone->getUsers(), isBefore))->getLoc());
    }
  }

  /// Creates the ops `pipe.transfer`, which send values between stages. A value
  /// needs a transfer if one stage computes it and another stage reads it. For
  /// example, stage 0 computes a value, and the stages 1 and 2 read it. Then
  /// the function creates two transfers, one to stage 1 and one to stage 2. In
  /// a training step, the function also sends the results of the step to stage
  /// 0.
  void insertTransfers() {
    for (Operation &op :
         llvm::make_early_inc_range(function.front().without_terminator())) {
      if (isa<pipe::TransferOp>(op))
        continue;
      const int64_t from = pipe::stageOf(&op);
      for (Value result : op.getResults())
        for (int64_t to : stagesOfUsers(&op))
          if (to != from)
            transfer(result, from, to);
    }
    if (trains)
      gatherResults();
  }

  /// Sends the results of a training step, such as the loss, to stage 0, which
  /// returns them.
  void gatherResults() {
    for (OpOperand &result :
         function.front().getTerminator()->getOpOperands()) {
      Operation *maker = result.get().getDefiningOp();
      if (maker && pipe::stageOf(maker) != 0)
        result.set(send(result.get(), pipe::stageOf(maker), 0));
    }
  }

  /// Makes the ops on the stage `to` receive `value` from the stage `from`. The
  /// stage `from` computes `value`. If at least one op on the stage `to` reads
  /// `value`, the function creates an op `pipe.transfer`. Afterwards, all ops
  /// on the stage `to` read the result of this `pipe.transfer` in place of
  /// `value`.
  void transfer(Value value, int64_t from, int64_t to) {
    auto readsThere = [&](OpOperand &use) {
      return !isa<func::ReturnOp>(use.getOwner()) &&
             !isa<pipe::TransferOp>(use.getOwner()) &&
             pipe::stageOf(use.getOwner()) == to;
    };
    if (llvm::none_of(value.getUses(), readsThere))
      return;
    Value sent = send(value, from, to);
    value.replaceUsesWithIf(sent, readsThere);
  }

  /// Creates the transfer of `value` from the stage `from` to the stage `to`.
  /// The transfer op itself has the stage `to`.
  Value send(Value value, int64_t from, int64_t to) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto sent =
        pipe::TransferOp::create(builder, value.getLoc(), value, from, to);
    setStage(sent, to);
    ++numTransfers;
    return sent.getResult();
  }

  func::FuncOp function;
  int numStages;
  ArrayAttr stageAt;           ///< names at which stages begin, or null
  DictionaryAttr stageOfNodes; ///< stages of annotated nodes, or null
  bool trains;
  ForwardChain chain;
};

/// Pass `--cut-stages`: assigns all ops of a function to pipeline stages.
struct CutStages : pcc::place::impl::CutStagesBase<CutStages> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto stages = module->getAttrOfType<IntegerAttr>(pipe::stagesName);
    StagePlacer placer(
        getOperation(), stages ? static_cast<int>(stages.getInt()) : 1,
        module->getAttrOfType<ArrayAttr>(pipe::stageAtName),
        module->getAttrOfType<DictionaryAttr>(pipe::stageOfNodesName));
    if (failed(placer.run()))
      return signalPassFailure();
    numTransfers += placer.numTransfers;
    numClones += placer.numClones;
  }
};
} // namespace
