//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Gathers every rank's log of its last step on rank 0. Rank 0 writes a
/// timeline with heading `title` to `files`. All ranks must call. Times are
/// converted to the clock of rank 0. Memory sizes are those that the compiler
/// computed.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
