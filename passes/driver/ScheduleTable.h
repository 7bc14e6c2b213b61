//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Reads the CSV file of --schedule into `options.scheduleTable`, and sets
/// `options.microbatches` and `options.virtualStages`. Does nothing for
/// inference or if --schedule names no file. Returns exit code 7 if the file
/// cannot be read, and 6 if the schedule is wrong, does not fit the number of
/// stages or microbatches, or deadlocks.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
