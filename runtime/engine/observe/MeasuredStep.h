//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Gathers on rank 0 every rank's log of its last step. Writes the logs to
/// `files` as a timeline with one row per rank and the heading `title`. All
/// ranks must call.
///
/// - Times are measured. Clocks of different hosts are aligned at a barrier.
/// - Memory is not measured; each rank's program records the bytes per stage.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
