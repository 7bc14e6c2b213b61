//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Reads the CSV file of --schedule into `options.scheduleTable`, and sets
/// `options.microbatches` and `options.virtualStages` (stages per pipeline
/// rank) from it. Line i lists the actions of pipeline rank i in order: 0F1 is
/// the forward pass of stage 0 for microbatch 1, and 0B1 is the backward pass.
/// Does nothing for inference or if --schedule names no file. Errors:
///  - exit code 7: the file cannot be read or is no regular file;
///  - exit code 6: the schedule has a syntax error, contradicts other options,
///    or makes ranks wait for each other forever.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
