//===- TimelineSvg.h - drawing of a timeline as SVG -----------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINESVG_H
#define PCC_RUNTIME_TIMELINE_TIMELINESVG_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Draws the timeline of a step as an SVG document. Time increases from left to
/// right:
///
///   title: makespan, idle share of the whole step
///   rank 0 | F0 | F1 |    idle    | B0 | B1 |    idle share of the row
///          messages
///          memory curve                          peak of the row
///   time axis, legend
///
/// A row shows one rank, or all ranks that run the same pipeline stages. A box
/// is an action, such as a forward pass (F) of microbatch 0. The makespan is
/// the duration of the step. The idle share is the time without actions, in
/// percent of the makespan. Messages and memory curves are drawn only if
/// `timeline` has them.
std::string drawSvg(const Timeline &timeline, std::string_view title);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINESVG_H
