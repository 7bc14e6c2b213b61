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
/// A row shows the actions of one rank, or of all ranks that run the same
/// pipeline stages. The picture shows one row, for the rank "rank 0". An
/// action, such as a forward pass, is drawn as a box. If there is space, the
/// box contains the number of the microbatch. A viewer shows the name and the
/// times of the action when the pointer is over the box. If a row runs several
/// pipeline stages, the boxes of later stages are paler.
///
/// - `title` is the heading of the drawing. The heading also contains the
///   makespan, which is the duration of the step.
/// - The idle share of a row is the time without actions, in percent of the
///   makespan. The idle share of the whole step is the average of all rows.
/// - The memory curve shows the memory in use over time. The peak is the
///   largest number of bytes in use.
///
/// The drawing contains messages and memory curves only if the timeline
/// contains them.
std::string drawSvg(const Timeline &timeline, std::string_view title);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINESVG_H
