//===- TimelineSvg.h - a picture of a step --------------------------------===//

#ifndef PCC_PASSES_PLAN_TIMELINESVG_H
#define PCC_PASSES_PLAN_TIMELINESVG_H

#include "passes/plan/Timeline.h"

namespace pcc::plan {

/// A timeline as an SVG document, time to the right: per row a bar with a box
/// for each action (its microbatch inside where there is room, its name and
/// times on hover, paler for later stages of the row) and gaps where it is
/// idle; below the bar its messages and the curve of its memory, where the
/// timeline has them. Rows are called rank 0, rank 1, … `title` stands above,
/// followed by makespan and idle share; a legend and a time axis stand below.
std::string drawSvg(const Timeline &timeline, std::string_view title);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_TIMELINESVG_H
