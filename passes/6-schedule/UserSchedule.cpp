//===- UserSchedule.cpp - schedules that users write as CSV ---------------===//

#include "passes/6-schedule/UserSchedule.h"
#include "dialects/diagnostics/EmitStatus.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/plan/schedule/ScheduleFile.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

int schedule::moduleNumber(ModuleOp module, StringRef name) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  return attribute ? static_cast<int>(attribute.getInt()) : 1;
}

FailureOr<std::optional<plan::ActionTable>>
schedule::userActionTable(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(pipe::tableName);
  if (!text)
    return std::optional<plan::ActionTable>();
  const int virtualStages =
      std::max(1, moduleNumber(module, pipe::virtualStagesName));
  StatusOr<plan::ActionTable> read = plan::readSchedule(
      text.getValue().str(),
      {moduleNumber(module, pipe::stagesName) / virtualStages, virtualStages,
       moduleNumber(module, pipe::microbatchesName)});
  if (!read)
    return emitStatus(
        module, read.status().prefixed("'" + pipe::tableName.str() + "': "));
  return std::optional(std::move(*read));
}
