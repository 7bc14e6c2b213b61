//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one step of a bundle (the directory that pcc writes), and returns
/// when each action (run of a stage function) and message would run. The
/// timeline has one row per position (virtual pipeline rank), since all ranks
/// of a position execute the same program.
///
/// Durations are estimates. They use the speeds and bandwidths of the module's
/// cluster. The time of an action follows from the flops, bytes and collectives
/// of its ops, and the time of a message from its bytes. The timeline also
/// shows the memory that weights, gradients and activations need. Equal
/// arguments give equal timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
