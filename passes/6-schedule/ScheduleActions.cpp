//===- ScheduleActions.cpp - the action table of every position -----------===//

#include "mlir/IR/Builders.h"
#include "passes/6-schedule/Passes.h"
#include "passes/plan/Schedules.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "schedule-actions"

namespace pcc::schedule {
#define GEN_PASS_DEF_SCHEDULEACTIONS
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;

namespace {
struct ScheduleActions
    : pcc::schedule::impl::ScheduleActionsBase<ScheduleActions> {
  int64_t option(StringRef name) {
    auto attribute = getOperation()->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 1;
  }

  std::vector<int> stagesThatShare() {
    std::vector<int> stages;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (pipe::actionOf(function) == pipe::unshardAction)
        stages.push_back(static_cast<int>(pipe::stageOf(function)));
    return stages;
  }

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

  FailureOr<plan::ActionTable> makeTable() {
    plan::ScheduleRequest request;
    request.kind = plan::ScheduleKind::ForwardOnly;
    if (auto name = getOperation()->getAttrOfType<StringAttr>("pipe.schedule");
        name && name.getValue() != "forward") {
      auto kind = plan::scheduleByName(name.getValue().str());
      if (!kind)
        return getOperation().emitError()
                   << "no schedule is called '" << name.getValue() << "'",
               failure();
      request.kind = *kind;
    }
    request.virtualStages = option("pipe.virtual_stages");
    request.numPositions = option("pipe.stages") / request.virtualStages;
    request.numMicrobatches = option("pipe.microbatches");
    plan::ActionTableOrError made = plan::makeSchedule(request);
    if (!made.error.empty())
      return getOperation().emitError() << made.error, failure();
    plan::insertUnshards(made.table, stagesThatShare());
    plan::appendUpdates(made.table, updates());
    return made.table;
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
