//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// If --schedule names a CSV file and the model is trained, reads the file into
/// `options.scheduleTable`, and sets `microbatches` and `virtualStages` to the
/// numbers in the file. Returns exit code 7 if the file cannot be read or is
/// not a regular file, and exit code 6 if the schedule contradicts other
/// options or deadlocks.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
