//===- TimelineTrace.h - export of a timeline as Chrome trace events ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// Returns a timeline as JSON in Chrome's trace event format, which Perfetto
/// and chrome://tracing display:
///
/// - Each row becomes a process. Its thread 0 has the actions, thread 1 the
///   messages, and a counter the memory.
/// - Each action or message becomes a complete event ("ph": "X") with its stage
///   and, for compute actions, its microbatch. The field `tdur` is the CPU
///   time, if known.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
