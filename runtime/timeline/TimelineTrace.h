//===- TimelineTrace.h - a step for trace viewers -------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
#define PCC_RUNTIME_TIMELINE_TIMELINETRACE_H

#include "runtime/timeline/Timeline.h"

namespace pcc::runtime {

/// A timeline in Chrome's trace event format (JSON, for Perfetto and
/// chrome://tracing): a process per row with one thread of actions, one of
/// messages, and a counter of its memory, where the timeline has them. Complete
/// events are called as in action tables and carry stage and microbatch; their
/// `tdur` is the time in which their thread had a core, where it is known.
std::string writeTrace(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINETRACE_H
