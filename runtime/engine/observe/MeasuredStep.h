//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Gathers on rank 0 what every rank logged in its last step, and writes it to
/// `files` as a timeline with one row per rank. All ranks must call this. Times
/// are measured. Memory is not: it follows from the bytes per stage in each
/// rank's program. Ranks on one host share the steady clock; the clocks of
/// other hosts are aligned at a barrier. `title` becomes the heading of the
/// picture.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
