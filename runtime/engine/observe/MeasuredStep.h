//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Writes a timeline of the last step of a run. The timeline shows when each
/// computation and communication of each rank began and ended. All ranks must
/// call this function, each with its own `log` of the step. Rank 0 writes an
/// SVG drawing with the heading `title` to `files.svg`, and a trace in Chrome's
/// trace event format (for Perfetto) to `files.trace`. A file with an empty
/// path is not written.
///
/// The memory in the timeline is not measured. It is computed from the times
/// and from the tensor sizes in `program`.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
