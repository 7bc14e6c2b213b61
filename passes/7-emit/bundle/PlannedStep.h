//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one step of a bundle (the directory that pcc writes). Returns a
/// timeline with the times of each action (run of a stage function) and each
/// message. It has one row per position (virtual pipeline rank), since all
/// ranks of a position execute the same program. It also shows the memory that
/// weights, gradients and activations need.
///
/// Durations are estimates, by the speeds and bandwidths of the module's
/// cluster. The time of an action follows from the flops, bytes and collectives
/// of its ops, the time of a message from its bytes. Equal arguments give equal
/// timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
