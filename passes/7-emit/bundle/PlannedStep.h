//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one training or inference step of a bundle. Returns a timeline
/// with three kinds of entries: actions, messages between stages, and the
/// memory in use. An action is one run of a stage, such as the forward pass of
/// stage 1 for microbatch 0.
///
/// The timeline has one row per pipeline position. A position is a place in the
/// pipeline. All ranks at one position run the same stages and execute the same
/// program. Example: with 8 ranks and 2 positions, each row stands for 4 ranks.
/// `programs` has one program per position.
///
/// The times are estimates. They are computed from the speeds of a cluster. The
/// module `facts.module` describes this cluster. Equal arguments give equal
/// timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
