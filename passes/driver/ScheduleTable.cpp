//===- ScheduleTable.cpp - reader of --schedule FILE.csv ------------------===//

#include "passes/driver/ScheduleTable.h"
#include "passes/plan/schedule/ScheduleFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace pcc;

Status pcc::readScheduleTable(CompileOptions &options) {
  if (!options.hasScheduleFile() || !options.training.train)
    return Status::success();
  auto file = llvm::MemoryBuffer::getFile(options.schedule, /*IsText=*/true);
  if (!file)
    return Status::error(InputOutput, "cannot read '" + options.schedule +
                                          "': " + file.getError().message());
  plan::ActionTableOrError read = plan::readSchedule(
      (*file)->getBuffer().str(),
      {.numPositions = static_cast<int>(options.axis("pp")),
       .virtualStages = static_cast<int>(options.virtualStages.value_or(0)),
       .numMicrobatches = static_cast<int>(options.microbatches.value_or(0))});
  if (!read.error.empty())
    return Status::error(CannotMeet,
                         "'" + options.schedule + "': " + read.error);
  options.scheduleTable = plan::printCsv(read.table);
  options.microbatches = read.table.numMicrobatches;
  options.virtualStages = read.table.numStages / read.table.numPositions();
  return Status::success();
}
