//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Reads the CSV file that --schedule names into `options.scheduleTable`. Sets
/// `microbatches` and `virtualStages` to the numbers in the file. Does nothing
/// for inference, or if --schedule names no file. Errors:
///  - exit code 7: the file cannot be read or is no regular file;
///  - exit code 6: the schedule contradicts other options or deadlocks.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
