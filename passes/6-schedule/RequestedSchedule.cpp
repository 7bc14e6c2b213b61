//===- RequestedSchedule.cpp - the action table that a module asks for ----===//

#include "passes/6-schedule/RequestedSchedule.h"
#include "dialects/diagnostics/EmitStatus.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/6-schedule/UserSchedule.h"

using namespace mlir;
using namespace pcc;

/// Generates the pipeline schedule with the name in the attribute
/// `pipe.schedule`, such as `1f1b`. Other attributes of the module give the
/// number of stages, the number of stages per rank of the pipeline, and the
/// number of microbatches. Emits an error and fails if no schedule has this
/// name, or if the schedule does not allow these numbers.
static FailureOr<plan::ActionTable> generate(ModuleOp module) {
  plan::ScheduleRequest request;
  request.kind = plan::ScheduleKind::ForwardOnly;
  if (auto name = module->getAttrOfType<StringAttr>(pipe::scheduleName);
      name && name.getValue() != "forward") {
    auto kind = plan::scheduleByName(name.getValue().str());
    if (!kind)
      return module.emitError()
                 << "no schedule is called '" << name.getValue() << "'",
             failure();
    request.kind = *kind;
  }
  request.virtualStages =
      schedule::moduleNumber(module, pipe::virtualStagesName);
  request.numPositions =
      schedule::moduleNumber(module, pipe::stagesName) / request.virtualStages;
  request.numMicrobatches =
      schedule::moduleNumber(module, pipe::microbatchesName);
  StatusOr<plan::ActionTable> made = plan::makeSchedule(request);
  if (!made)
    return emitStatus(module, made.status());
  return std::move(*made);
}

FailureOr<plan::ActionTable> schedule::actionTableOf(ModuleOp module) {
  FailureOr<std::optional<plan::ActionTable>> recorded =
      userActionTable(module);
  if (failed(recorded))
    return failure();
  return *recorded ? FailureOr<plan::ActionTable>(std::move(**recorded))
                   : generate(module);
}
