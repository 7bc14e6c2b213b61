//===- TimelineFiles.cpp - output files of a timeline ---------------------===//

#include "runtime/timeline/TimelineFiles.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/timeline/TimelineSvg.h"
#include "runtime/timeline/TimelineTrace.h"

namespace pcc::runtime {

Status writeTimeline(const Timeline &timeline, std::string_view title,
                     const TimelineFiles &files) {
  if (!files.svg.empty())
    PCC_RETURN_IF_ERROR(
        writeFileAtomically(files.svg, drawSvg(timeline, title)));
  if (!files.trace.empty())
    return writeFileAtomically(files.trace, writeTrace(timeline));
  return Status::success();
}

} // namespace pcc::runtime
