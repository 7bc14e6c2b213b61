//===- CutStages.cpp - assignment of ops to pipeline stages ---------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/3-place/BackwardStages.h"
#include "passes/3-place/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#include <limits>
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
/// the list of links (forward ops with much work, such as matmuls) into stages.
/// The rules in BackwardStages.h give stages to the ops of the backward pass
/// and of the weight update. Free ops are cheap ops, such as masks: each stage
/// that reads the result gets a clone. If a stage reads a value of another
/// stage, an op `pipe.transfer` sends the value to the reading stage.
/// ForwardChain.h defines these classes of ops.
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

  /// Divides the model into pipeline stages, and sets the stage of each op. The
  /// user can choose the nodes at which the stages begin, with the option
  /// --stage-at or with annotations of ONNX nodes. If the user does not choose
  /// them, a planner does, so that all stages take about equal time.
  ///
  /// The function also creates the ops that send values between stages. It
  /// fails if the model cannot be divided into the number of stages that the
  /// user wants, or cannot be divided at the nodes that the user has chosen.
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
    plan::StageCut cut = cutEvenly(std::move(request));
    if (!cut.error.empty())
      return emitError(UnknownLoc::get(function.getContext()))
             << "cannot cut the model into " << numStages
             << " stages: " << cut.error;
    for (auto [op, stage] :
         llvm::zip_equal(chain.links(), cut.stageOfItems(chain.links().size())))
      setStage(op, stage);
    placeBackwardAndUpdate(function, chain);
    placeFreeOps();
    insertTransfers();
    return success();
  }

  /// Number of transfers between stages, and number of clones. A cheap op, such
  /// as a mask, is cloned onto each stage that uses it.
  unsigned numTransfers = 0, numClones = 0;

private:
  /// Returns whether there are enough links for the stages. A link is a forward
  /// op that exactly one stage runs, such as a matmul. The conditions are:
  ///
  ///  - There are at least as many links as stages.
  ///  - For each name in `stageAt` (--stage-at), there is a link at or after
  ///    the name, and it is not the first link.
  ///  - If `stageOfNodes` annotates nodes, each stage has an annotated link.
  ///
  /// With one stage, only the second condition counts.
  bool hasLinkForEachStage() const {
    auto hasLinksAround = [&](StringAttr name) {
      const size_t cut = chain.findCut(name).value_or(0);
      return cut > 0 && cut < chain.links().size();
    };
    if (stageAt &&
        !llvm::all_of(stageAt.getAsRange<StringAttr>(), hasLinksAround))
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

  /// Cuts the list of links (forward ops with much work) into stages of about
  /// equal time. Limits the bytes of weights on one stage. Tries two limits,
  /// then no limit, and returns the first cut that is possible:
  ///
  ///   min(0.85 · W, M · T)   weights are sharded over the axis tp
  ///   min(0.85 · W, M · R)   weights are sharded over all ranks of the stage
  ///
  /// W is the bytes of all weights, M the --memory-limit of one rank, T the
  /// size of tp, and R the number of ranks of one stage.
  plan::StageCut cutEvenly(const plan::StageCutRequest &request) const {
    constexpr double mostWeights = 0.85;
    plan::StageCutRequest bounded = request;
    double weights = 0;
    for (plan::WorkItem &item : bounded.items) {
      item.activationBytes = 0;
      weights += item.weightBytes;
    }
    if (request.numStages > 1 && weights > 0)
      for (double held : memoryOfStage()) {
        bounded.memoryLimit = std::min(mostWeights * weights, held);
        if (plan::StageCut cut = plan::cutStages(bounded); cut.error.empty())
          return cut;
      }
    return plan::cutStages(request);
  }

  /// Returns the largest number of bytes of weights that one stage can store.
  /// The result has two elements:
  ///
  ///   1. the number of bytes if each weight is sharded over the axis tp only
  ///   2. the number of bytes if each weight is sharded over all ranks of the
  ///      stage
  ///
  /// The option --memory-limit limits the bytes of one rank. For example, let
  /// this limit be 10 GB, let a stage have 8 ranks, and let the axis tp have
  /// size 2. The result is then [20 GB, 80 GB]. Without --memory-limit, the
  /// result has only one element, infinity.
  SmallVector<double, 2> memoryOfStage() const {
    auto module = function->getParentOfType<ModuleOp>();
    auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
    if (!limit)
      return {std::numeric_limits<double>::infinity()};
    const dist::Mesh mesh = dist::meshOf(module).spatial();
    const auto ofRank = static_cast<double>(limit.getInt());
    return {ofRank * std::max<int64_t>(1, mesh.sizeOf("tp")),
            ofRank * std::max<int64_t>(1, mesh.size())};
  }

  /// Makes a stage begin at each name in `stageAt` (--stage-at), the name of an
  /// ONNX node or of a tensor. The stage begins at the first link at or after
  /// the name. A link is a forward op with much work, such as a matmul. Appends
  /// the indices of these links to `request.pinned`. Does nothing if `stageAt`
  /// is null or empty. Emits an error if the number of names is not the number
  /// of stages minus 1, if a name does not exist, if no link follows it, or if
  /// the stage begins at link 0, which leaves no link for the stage before it.
  LogicalResult pinCuts(plan::StageCutRequest &request) {
    if (!stageAt || stageAt.empty())
      return success();
    Location nowhere = UnknownLoc::get(function.getContext());
    if (static_cast<int>(stageAt.size()) != numStages - 1)
      return emitError(nowhere) << numStages << " stages need " << numStages - 1
                                << " cuts, got " << stageAt.size();
    for (StringAttr name : stageAt.getAsRange<StringAttr>()) {
      auto cut = chain.findCut(name);
      const bool isAfterLast = cut == chain.links().size();
      if (!cut || *cut == 0 || isAfterLast)
        return emitError(cut && !isAfterLast ? chain.links().front()->getLoc()
                                             : nowhere)
               << "cannot cut before '" << name.getValue() << "': "
               << (!cut          ? "no node or value has that name"
                   : isAfterLast ? "no node from there on depends on an input"
                                 : "it comes first");
      request.pinned.push_back(*cut);
    }
    llvm::sort(request.pinned);
    return success();
  }

  /// Makes stages begin where annotations of ONNX nodes say. `stageOfNodes`
  /// maps a node to the number of its stage. Stage s > 0 begins at the first
  /// link (forward op that only one stage runs) with the annotation s. The
  /// index of this link is appended to `request.pinned`. For example, five
  /// links with the annotations none, 0, none, 1, none are on the stages 0, 0,
  /// 0, 1, 1. Annotations that are no stage number are ignored. Emits an error
  /// if a link has a smaller annotation than an earlier link, if no link has
  /// the annotation s, or if stage 0 would have no link.
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
               << "cannot cut the model into " << numStages
               << " stages as annotated: no node with work is on stage "
               << (isEmpty ? stage : stage - 1);
      request.pinned.push_back(*begins[stage]);
    }
    return success();
  }

  /// Returns the stages that read the results of `op`, in ascending order. For
  /// example, if an op on stage 2 and an op on stage 1 read a result, the
  /// function returns [1, 2]. If no stage reads a result, the function returns
  /// [0].
  ///
  /// A result of `op` may also be an output of the model. Then an op
  /// `func.return` reads the result. In a training step, this op counts as an
  /// op on stage 0, because stage 0 returns all outputs. In inference, this op
  /// does not count, because each stage returns the outputs that it computes.
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

  /// Sets the stage of each free op. A free op is a cheap op, such as a mask.
  /// The free op gets the first stage that reads its result. Each other stage
  /// that reads the result gets a clone of the free op. For example, the stages
  /// 1 and 2 read a mask. The op that computes the mask gets stage 1, and a
  /// clone of this op gets stage 2. The function visits the ops in reverse
  /// order, because the ops that read the result of a free op need their stages
  /// first.
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
  /// read the clone.
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
