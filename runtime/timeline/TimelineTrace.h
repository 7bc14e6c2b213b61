//===- TimelineTrace.h - export of a timeline as Chrome trace events ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Returns a timeline as JSON in Chrome's trace event format, which Perfetto
/// and chrome://tracing display:
///
/// - Each row of the timeline becomes a process of the trace. Thread 0 of the
///   process has the row's actions. Thread 1 has the row's messages, if the
///   timeline has messages. A counter shows the memory, if it was computed.
/// - Each action or message becomes a complete event ("ph": "X") with its
///   stage. Forward (F), backward (B), input gradient (I) and weight gradient
///   (W) also have their microbatch. The field `tdur` is the CPU time, if it
///   is known.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
