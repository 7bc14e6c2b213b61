//===- ScheduleTable.h - reader of --schedule FILE.csv --------------------===//

#ifndef PCC_PASSES_DRIVER_SCHEDULETABLE_H
#define PCC_PASSES_DRIVER_SCHEDULETABLE_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Reads the pipeline schedule that the user has written as a CSV file. The
/// option --schedule names the file. Line i of the file lists the actions of
/// rank i of the pipeline in the order of execution. For example, 0F1 is the
/// forward pass of stage 0 for microbatch 1, and 0B1 is the backward pass.
///
/// The function sets three members of `options`:
///  - `scheduleTable`: the schedule as CSV text
///  - `microbatches`: the number of microbatches in the schedule
///  - `virtualStages`: the number of stages that each rank of the pipeline runs
///
/// The function does nothing if --schedule names no file. It also does nothing
/// if the user compiles the model for inference. Errors:
///  - exit code 7: the file cannot be read or is no regular file;
///  - exit code 6: the schedule has a syntax error, contradicts other options,
///    or makes ranks wait for each other forever.
Status readScheduleTable(CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_SCHEDULETABLE_H
