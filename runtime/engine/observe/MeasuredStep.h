//===- MeasuredStep.h - timeline of a step as all ranks ran it ------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/Timeline.h"

#include <optional>

namespace pcc::runtime {

/// Sets `timeline`, on rank 0 only, to a timeline of the last step of a run. It
/// shows when each computation and communication of each rank began and ended.
/// All ranks must call this function, each with its own `log` of the step.
///
/// The memory in the timeline is not measured. It is computed from the times
/// and from the tensor sizes in `program`.
Status gatherMeasuredStep(const program::ProgramT &program, const StepLog &log,
                          World &world, std::optional<Timeline> &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
