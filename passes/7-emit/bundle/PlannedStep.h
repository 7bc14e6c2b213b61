//===- PlannedStep.h - a step as it should run ----------------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// One step of a bundle, simulated: a row per position, whose ranks do the
/// same. An action takes what its operations, the bytes that they move and its
/// collectives take by the module's cluster, a message what its bytes take;
/// memory is what the programs hold for longer than an action. The same facts
/// give the same timeline.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
