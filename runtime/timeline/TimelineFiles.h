//===- TimelineFiles.h - a step as files ----------------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEFILES_H
#define PCC_RUNTIME_TIMELINE_TIMELINEFILES_H

#include "runtime/base/Status.h"
#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Where a timeline goes; empty: nowhere.
struct TimelineFiles {
  std::string svg;   ///< drawSvg
  std::string trace; ///< writeTrace
};

/// Writes the files, each whole or not at all (exit code 7).
Status writeTimeline(const Timeline &timeline, std::string_view title,
                     const TimelineFiles &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEFILES_H
