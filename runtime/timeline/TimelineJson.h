//===- TimelineJson.h - a timeline as JSON --------------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINEJSON_H
#define PCC_RUNTIME_TIMELINE_TIMELINEJSON_H

#include "runtime/timeline/Timeline.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::runtime {

/// Returns `timeline` as one JSON object. Times are in seconds, rounded to
/// nanoseconds. Entries of the inner lists are short lists, so that the text
/// stays small:
///
///   {"seconds": 2.5, "rows": [{"name": "rank 0", "idle_seconds": 0.5,
///     "weight_bytes": 4, "state_bytes": 0, "arena_bytes": 8,
///     "actions": [["0F0", start, end], …],
///     "messages": [["0SEND_F0", start, end, number of the message], …],
///     "memory": [[seconds, gradients, activations], …]}]}
///
/// A collective has the number -1. If the timeline has more than 5,000
/// collectives, they are left out, and "collectives_left_out" counts them.
nlohmann::ordered_json toJson(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINEJSON_H
