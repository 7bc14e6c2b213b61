//===- RecordedTable.cpp - a schedule that a user wrote -------------------===//

#include "passes/6-schedule/RecordedTable.h"
#include "passes/plan/schedule/ScheduleFile.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

int schedule::numberOf(ModuleOp module, StringRef name) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  return attribute ? static_cast<int>(attribute.getInt()) : 1;
}

FailureOr<std::optional<plan::ActionTable>>
schedule::recordedTable(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(tableName);
  if (!text)
    return std::optional<plan::ActionTable>();
  const int virtualStages =
      std::max(1, numberOf(module, "pipe.virtual_stages"));
  plan::ActionTableOrError read = plan::readSchedule(
      text.getValue().str(),
      {numberOf(module, "pipe.stages") / virtualStages, virtualStages,
       numberOf(module, "pipe.microbatches")});
  if (!read.error.empty())
    return module.emitError() << "'" << tableName << "': " << read.error,
           failure();
  return std::optional(std::move(read.table));
}
