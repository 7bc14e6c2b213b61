//===- ScheduleActions.cpp - action tables of all pipeline positions ------===//

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
  /// Returns the stages with a function for the action UNSHARD. It computes
  /// once per step what all microbatches share, such as gathered weights.
  std::vector<int> stagesThatShare() {
    std::vector<int> stages;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (pipe::actionOf(function) == pipe::unshardAction)
        stages.push_back(static_cast<int>(pipe::stageOf(function)));
    return stages;
  }

  /// Returns the parts of the updates of all stages. Each part is one function
  /// and one action, such as U0 or U1.
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

  /// Returns the requested action table, with the actions that run once per
  /// step: UNSHARD (all-gather of weights) and updates.
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
