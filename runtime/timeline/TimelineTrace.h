//===- TimelineTrace.h - export of a timeline as Chrome trace events ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Returns a timeline as JSON in Chrome's trace event format, which Perfetto
/// and chrome://tracing display:
///
/// - Each row of the timeline becomes a process of the trace.
/// - The actions of a row become events of thread 0 of the process, and its
///   kernels events below the action that contains them.
/// - The messages of a row become events of thread 1 of the process.
/// - The memory of a row becomes a counter named "memory".
///
/// Each event of an action or message has its start ("ts"), duration ("dur")
/// and pipeline stage. A forward or backward action also has its microbatch. If
/// the CPU time of an action is known, the field "tdur" contains it.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
