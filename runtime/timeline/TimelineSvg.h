//===- TimelineSvg.h - a picture of a step --------------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINESVG_H
#define PCC_RUNTIME_TIMELINE_TIMELINESVG_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// A timeline as an SVG document, time to the right: per row a bar with a box
/// for each action (its microbatch inside where there is room, its name and
/// times on hover, paler for later stages of the row) and gaps where it is
/// idle; below the bar its messages and the curve of its memory, where the
/// timeline has them. `title` stands above, followed by makespan and idle
/// share; a legend and a time axis stand below.
std::string drawSvg(const Timeline &timeline, std::string_view title);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINESVG_H
