//===- TimelineSvg.h - drawing of a timeline as SVG -----------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINESVG_H
#define PCC_RUNTIME_TIMELINE_TIMELINESVG_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Draws a timeline as an SVG document, with time to the right:
///
///   title: makespan, idle share of the whole step
///   rank 0 | F0 | F1 |    idle    | B0 | B1 |    idle share of the row
///          messages                              peak of the row
///          memory curve
///   time axis, legend
///
/// A box is an action, with its microbatch inside, and its name and times on
/// hover. Later stages of a row (virtual pipeline stages) are paler. Messages
/// and memory are drawn only if the timeline has them.
std::string drawSvg(const Timeline &timeline, std::string_view title);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINESVG_H
