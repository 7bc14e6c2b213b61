//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Writes a timeline of the last step of a run. The timeline shows, for each
/// rank, when each computation and each communication began and ended. All
/// ranks must call this function. Each rank passes its own `log` of the step.
/// Rank 0 gathers the logs, and converts all times to its own clock. Rank 0
/// then writes two files:
///
/// - an SVG drawing with the heading `title`, to the path `files.svg`
/// - a trace in Chrome's trace event format, which Perfetto can display, to the
///   path `files.trace`
///
/// If one of the two paths is the empty string, this file is not written.
///
/// The timeline also shows the memory in use. The memory is not measured: it is
/// computed from the times of the computations, and from the sizes of weights,
/// gradients and activations that the compiler has stored in `program`.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
