//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one step of a bundle. Returns a timeline of stage runs, messages
/// between stages, and memory in use, with one row per pipeline rank. The times
/// are estimates for the cluster that `facts.module` describes. Equal arguments
/// give equal timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
