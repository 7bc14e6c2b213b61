//===- ScheduleTable.cpp - reader of --schedule FILE.csv ------------------===//

#include "passes/driver/ScheduleTable.h"
#include "passes/plan/schedule/ScheduleFile.h"
#include "runtime/base/MappedFile.h"

using namespace pcc;

/// Largest accepted size of a schedule file in bytes.
static constexpr size_t mostScheduleBytes = size_t(256) << 20;

Status pcc::readScheduleTable(CompileOptions &options) {
  if (!options.hasScheduleFile() || !options.training.train)
    return Status::success();
  std::string text;
  PCC_RETURN_IF_ERROR(
      runtime::readTextFile(options.schedule, mostScheduleBytes, text));
  StatusOr<plan::ActionTable> read = plan::readSchedule(
      text,
      {.numPositions = static_cast<int>(options.axis("pp")),
       .virtualStages = static_cast<int>(options.virtualStages.value_or(0)),
       .numMicrobatches = static_cast<int>(options.microbatches.value_or(0))});
  if (!read)
    return read.status().prefixed("'" + options.schedule + "': ");
  options.scheduleTable = plan::printCsv(*read);
  options.microbatches = read->numMicrobatches;
  options.virtualStages = read->numStages / read->numPositions();
  return Status::success();
}
