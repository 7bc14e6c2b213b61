//===- TimelineTrace.h - export of a timeline as Chrome trace events ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Returns a timeline as JSON in Chrome's trace event format, which Perfetto
/// and chrome://tracing display. Each row of the timeline becomes a process of
/// the trace. Thread 0 of that process has the row's actions. If the timeline
/// has messages, thread 1 has these. If the timeline has memory curves, a
/// counter shows them. Each action or message is a complete event ("ph": "X")
/// with its stage. Forward (F), backward (B), input gradient (I) and weight
/// gradient (W) also have their microbatch. The event's `tdur` is the CPU time,
/// if it is known.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
