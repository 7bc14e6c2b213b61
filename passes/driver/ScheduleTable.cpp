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
  StatusOr<plan::ActionTable> read = plan::readSchedule(
      (*file)->getBuffer().str(),
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
