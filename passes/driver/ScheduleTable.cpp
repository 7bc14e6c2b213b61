//===- ScheduleTable.cpp - reader of --schedule FILE.csv ------------------===//

#include "passes/driver/ScheduleTable.h"
#include "passes/plan/schedule/ScheduleFile.h"
#include "runtime/base/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

using namespace pcc;

/// Largest accepted size of a schedule file in bytes.
static constexpr size_t mostScheduleBytes = size_t(256) << 20;

/// Returns the number of lines in `text` that are not empty. In a schedule
/// file, each such line lists the actions of one coordinate along the pipeline
/// axis.
static int numLines(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return static_cast<int>(llvm::count_if(
      lines, [](llvm::StringRef line) { return !line.trim().empty(); }));
}

/// If the input is a dump (.mlir file), the command need not give --pp and
/// --train, because the dump contains the values of these options. If it does
/// not give --pp, takes the number of lines in the schedule file as the size of
/// the pipeline axis. Phase 6-schedule later compares this number with the size
/// that the dump contains.
Status pcc::readScheduleTable(CompileOptions &options) {
  const bool isText = llvm::sys::path::extension(options.model) == ".mlir";
  if (!options.hasScheduleFile() || (!options.training.train && !isText))
    return Status::success();
  std::string text;
  PCC_RETURN_IF_ERROR(
      runtime::readTextFile(options.schedule, mostScheduleBytes, text));
  StatusOr<plan::ActionTable> read = plan::readSchedule(
      text,
      {.numPositions = options.axes.count("pp") || !isText
                           ? static_cast<int>(options.axis("pp"))
                           : numLines(text),
       .virtualStages = static_cast<int>(options.virtualStages.value_or(0)),
       .numMicrobatches = static_cast<int>(options.microbatches.value_or(0))});
  if (!read)
    return read.status().prefixed("'" + options.schedule + "': ");
  options.scheduleTable = plan::printCsv(*read);
  options.microbatches = read->numMicrobatches;
  options.virtualStages = read->numStages / read->numPositions();
  return Status::success();
}
