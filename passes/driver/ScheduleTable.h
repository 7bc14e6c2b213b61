//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Reads the CSV file that --schedule names. Stores its schedule in
/// `options.scheduleTable`. Sets `options.microbatches` and
/// `options.virtualStages` to the numbers in the file. Does nothing if
/// --schedule names no file or the model is not trained. Errors:
///  - exit code 7: the file cannot be read;
///  - exit code 6: the schedule contradicts other options or deadlocks.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
