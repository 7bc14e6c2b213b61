//===- TimelineTrace.h - export of a timeline as Chrome trace events ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Returns a timeline as JSON in Chrome's trace event format, which Perfetto
/// and chrome://tracing display. Each row is a process. Thread 0 of the process
/// has the actions, thread 1 the messages, and a counter shows the memory; the
/// latter two are written only if the timeline has them. Each action or message
/// is a complete event that carries its stage and, for F, B, I and W, its
/// microbatch. The event's `tdur` is the CPU time, if it is known.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
