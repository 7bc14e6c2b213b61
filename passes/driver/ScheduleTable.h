//===- ScheduleTable.h - --schedule FILE.csv ------------------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Reads the file that --schedule names, if it does, into
/// `options.scheduleTable`. Microbatches and stages per rank that were not
/// given become the file's. Exit code 7 if it cannot be read, 6 if it does not
/// fit what was asked for or cannot proceed.
Outcome readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
