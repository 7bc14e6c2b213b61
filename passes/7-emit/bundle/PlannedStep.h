//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one training or inference step of a bundle. Returns a timeline of
/// the actions, the messages between stages, and the memory in use. An action
/// is one run of a stage, such as the forward pass of stage 1 for microbatch 0.
/// The timeline has one row per pipeline position, and `programs` has one
/// program per position. All ranks of a position execute the same program. The
/// times are estimates, computed for the cluster that the module `facts.module`
/// describes. Equal arguments give equal timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
