//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Reads the schedule file into `options.scheduleTable`, if --schedule names a
/// file and the model is trained. Sets `microbatches` and `virtualStages` to
/// those of the file. Returns exit code 7 if the file cannot be read. Returns
/// exit code 6 if the schedule contradicts other options or deadlocks.
Outcome readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
