//===- PlannedStep.h - simulated timeline of one step ---------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::emit {

/// Simulates one step of a bundle. Returns a timeline of actions (runs of a
/// stage function), messages and memory use. The timeline has one row per
/// position (virtual pipeline rank), since all ranks of a position execute the
/// same program.
///
/// Estimates times by the speeds of the cluster that the module describes.
/// Equal arguments give equal timelines.
runtime::Timeline plannedStep(const ModelFacts &facts,
                              const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANNEDSTEP_H
