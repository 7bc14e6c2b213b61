//===- MeasuredStep.h - a step as it ran on all ranks ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
#define PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/timeline/TimelineFiles.h"

namespace pcc::runtime {

/// Collective over the world: rank 0 gathers what all ranks did in the step
/// that was logged last and writes it to `files`, a row per rank. What an
/// action holds is what the program says. Ranks of one host share a clock;
/// others are compared by a barrier.
Status writeMeasuredStep(const program::ProgramT &program, const StepLog &log,
                         World &world, std::string_view title,
                         const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_MEASUREDSTEP_H
