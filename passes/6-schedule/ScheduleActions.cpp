//===- ScheduleActions.cpp - action tables of all pipeline ranks ----------===//

#include "mlir/IR/Builders.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/RequestedSchedule.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "schedule-actions"

namespace pcc::schedule {
#define GEN_PASS_DEF_SCHEDULEACTIONS
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

namespace {
struct ScheduleActions
    : pcc::schedule::impl::ScheduleActionsBase<ScheduleActions> {
  /// Returns the numbers of the stages that have a function for the action
  /// UNSHARD. This function runs once per step. It computes values that are
  /// equal in all microbatches, such as the all-gather of a sharded weight.
  std::vector<int> stagesThatShare() {
    std::vector<int> stages;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (pipe::actionOf(function) == pipe::unshardAction)
        stages.push_back(static_cast<int>(pipe::stageOf(function)));
    return stages;
  }

  /// Finds the functions of the module that belong to the optimizer update.
  /// Returns a pair (stage, part) for each of these functions. The update of a
  /// stage is divided into several parts if stages exchange values in the
  /// update, such as a global gradient norm. Each part is one function. Parts
  /// are counted from 0. For example, stage 1 has two functions of the update,
  /// with the actions U0 and U1. The pairs of stage 1 are (1, 0) and (1, 1).
  std::vector<plan::StageUpdate> updates() {
    std::vector<plan::StageUpdate> found;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      const auto action = plan::parseKind(pipe::actionOf(function).str());
      if (action && action->kind == plan::ActionKind::Update)
        found.push_back(
            {static_cast<int>(pipe::stageOf(function)), action->microbatch});
    }
    return found;
  }

  /// Returns the complete pipeline schedule of the module. An action is one
  /// call of a function of a stage. The schedule is a table. For each rank of
  /// the pipeline, the table lists the actions of one step in order. The table
  /// contains actions that run once per microbatch, such as F (forward pass).
  /// The table also contains actions that run once per step: UNSHARD
  /// (all-gather of weights) and the optimizer updates.
  FailureOr<plan::ActionTable> makeTable() {
    FailureOr<plan::ActionTable> table = actionTableOf(getOperation());
    if (failed(table))
      return failure();
    plan::insertUnshards(*table, stagesThatShare());
    plan::appendUpdates(*table, updates());
    return table;
  }

  void runOnOperation() override {
    FailureOr<plan::ActionTable> table = makeTable();
    if (failed(table))
      return signalPassFailure();
    auto builder = OpBuilder::atBlockEnd(getOperation().getBody());
    for (int position = 0; position < table->numPositions(); ++position) {
      SmallVector<Attribute> actions;
      for (const plan::Action &action : table->positions[position])
        actions.push_back(builder.getStringAttr(plan::print(action)));
      std::vector<int> stages = table->stagesOf(position);
      pipe::ActionsOp::create(
          builder, getOperation().getLoc(), position,
          SmallVector<int64_t>(stages.begin(), stages.end()),
          builder.getArrayAttr(actions));
      numActions += actions.size();
      LDBG() << "position " << position << ": " << actions.size() << " actions";
    }
  }
};
} // namespace
