//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Gathers on rank 0 every rank's log of its last step. Writes the logs to
/// `files` as a timeline with one row per rank. All ranks must call. Times are
/// measured. Memory is computed from the bytes per stage that each rank's
/// program records. Times of different hosts come from different clocks, which
/// are aligned at a barrier. `title` becomes the heading of the picture.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
