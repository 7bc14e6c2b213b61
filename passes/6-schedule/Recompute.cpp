//===- Recompute.cpp - the pass recompute (activation checkpointing) ------===//

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/6-schedule/ActivationCheckpointing.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/RequestedSchedule.h"
#include "passes/6-schedule/StageParts.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "recompute"

namespace pcc::schedule {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

namespace {
/// Function that chooses the activations that stay in memory, for all stages of
/// one pipeline rank. The arguments are one graph per stage, and the bytes that
/// activations may use on the rank. Only the recomputation mode `auto` uses the
/// bytes. Returns, for each stage, the values to keep and the ops to recompute.
using Chooser = std::vector<plan::Recomputation> (*)(
    const std::vector<plan::StageGraph> &, int64_t);
} // namespace

/// Calls `choose` for each pipeline stage in `stages`, and returns the results
/// in the order of `stages`. The function `choose` decides which activations of
/// one stage stay in memory. eachStage() has the type `Chooser`. This type
/// requires a second argument, which is a memory budget in bytes. eachStage()
/// does not use the budget.
template <plan::Recomputation (*choose)(const plan::StageGraph &)>
static std::vector<plan::Recomputation>
eachStage(const std::vector<plan::StageGraph> &stages, int64_t) {
  std::vector<plan::Recomputation> chosen;
  chosen.reserve(stages.size());
  for (const plan::StageGraph &stage : stages)
    chosen.push_back(choose(stage));
  return chosen;
}

/// Returns the function that chooses the activations to keep in memory. `mode`
/// is the module attribute `pipe.recompute`. With "none", the backward pass
/// recomputes only ops that cost no flops, such as a transpose. With
/// "selective", it recomputes only cheap ops. With "full", only the values
/// between segments (ranges of ops) are kept, and values whose op must not run
/// twice. With "auto", the backward pass recomputes the fewest flops within a
/// memory budget.
static Chooser chooserOf(StringRef mode) {
  return llvm::StringSwitch<Chooser>(mode)
      .Case("none", eachStage<plan::recomputeNothing>)
      .Case("selective", eachStage<plan::recomputeCheap>)
      .Case("full", eachStage<plan::recomputeAll>)
      .Default(plan::recomputeWithin);
}

namespace {
struct Recompute : pcc::schedule::impl::RecomputeBase<Recompute> {
  void runOnOperation() override {
    auto name = getOperation()->getAttrOfType<StringAttr>(pipe::recomputeName);
    const StringRef mode = name ? name.getValue() : "none";
    if (!trains())
      return;
    Chooser choose = chooserOf(mode);
    FailureOr<plan::ActionTable> table = actionTableOf(getOperation());
    if (failed(table))
      return signalPassFailure();
    addedFlops.resize(table->numStages);
    for (int position = 0; position < table->numPositions(); ++position)
      if (failed(recompute(*table, position, choose)))
        return signalPassFailure();
    getOperation()->setAttr(
        pipe::recomputedFlopsName,
        Builder(&getContext()).getDenseI64ArrayAttr(addedFlops));
  }

  /// Returns whether the module contains a stage that is trained.
  bool trains() {
    return llvm::any_of(getOperation().getOps<func::FuncOp>(),
                        [](func::FuncOp stage) {
                          return stage->hasAttr(pipe::stageName) &&
                                 graph::isTraining(stage.front());
                        });
  }

  /// Makes the backward passes of one pipeline rank recompute activations.
  /// `table` is the pipeline schedule, and `position` is the index of the rank
  /// in the pipeline. Emits an error and fails if a stage of the rank has no
  /// function.
  LogicalResult recompute(const plan::ActionTable &table, int position,
                          Chooser choose) {
    const plan::Cluster cluster = plan::clusterOf(
        dist::clusterOf(getOperation()), dist::targetOf(getOperation()));
    const bool holdsWeights = !getOperation()->hasAttr(pipe::maxHeldBytesName);
    std::vector<ActivationCheckpointing> stages;
    std::vector<plan::StageGraph> graphs;
    for (int stage : table.stagesOf(position)) {
      func::FuncOp function = functionOf(stage);
      if (!function)
        return getOperation().emitError()
               << "stage " << stage << " has no function";
      stages.emplace_back(function, plan::mostInFlight(table, stage),
                          holdsWeights, cluster);
      graphs.push_back(stages.back().stageGraph());
    }
    const std::vector<plan::Recomputation> chosen =
        choose(graphs, budgetOf(position));
    for (auto [stage, activations, own] :
         llvm::zip_equal(table.stagesOf(position), stages, chosen)) {
      addedFlops[stage] = static_cast<int64_t>(activations.apply(own));
      keptBytes += own.keptBytes;
      numRecomputed += llvm::count(own.isRecomputed, true);
      LDBG() << "stage " << stage << " keeps " << own.keptBytes << " bytes";
    }
    return success();
  }

  /// Returns the function of stage `stage`; null if there is none.
  func::FuncOp functionOf(int stage) {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(pipe::stageName) &&
          pipe::stageOf(function) == stage && pipe::actionOf(function) == "F")
        return function;
    return {};
  }

  /// Returns the memory budget for the activations on one rank of the pipeline,
  /// in bytes. `position` is the number of the rank in the pipeline. The budget
  /// is entry `position` of the module attribute `pipe.activation_bytes`.
  /// Returns 0 if this entry does not exist. If the budget is 0, the
  /// recomputation mode `auto` keeps as few bytes of activations as possible.
  int64_t budgetOf(int position) {
    auto budgets = getOperation()->getAttrOfType<DenseI64ArrayAttr>(
        pipe::activationBytesName);
    return budgets && position < budgets.size() ? budgets[position] : 0;
  }

  /// For each stage, the flops that recomputation adds per microbatch.
  SmallVector<int64_t> addedFlops;
};
} // namespace
