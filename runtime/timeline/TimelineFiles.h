//===- TimelineFiles.h - output files of a timeline -----------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEFILES_H
#define PCC_RUNTIME_TIMELINE_TIMELINEFILES_H

#include "runtime/timeline/Timeline.h"
#include "status/Status.h"

namespace pcc::runtime {

/// Paths of a timeline's output files. An empty path means that the file is not
/// written.
struct TimelineFiles {
  std::string svg;   ///< drawing (drawSvg)
  std::string trace; ///< trace events (writeTrace)
};

/// Writes an SVG drawing of `timeline` to the path `files.svg`, and its Chrome
/// trace events to the path `files.trace`. If a path is the empty string, its
/// file is not written. `title` is the heading of the drawing. If a write
/// fails, the file keeps its old content, and exit code 7 is returned.
Status writeTimeline(const Timeline &timeline, std::string_view title,
                     const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEFILES_H
