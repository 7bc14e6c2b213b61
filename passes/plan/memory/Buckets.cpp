//===- Buckets.cpp - bucketing of small collectives into one call ---------===//

#include "passes/plan/memory/Buckets.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace pcc::plan {

std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls) {
  assert(std::is_sorted(calls.begin(), calls.end(),
                        [](const CollectiveCall &a, const CollectiveCall &b) {
                          return a.place < b.place;
                        }) &&
         "calls in the order of the program");
  // A bucket is a group of collectives that one call executes together. A
  // bucket is open if more collectives can still join the group. `calls` has
  // the indices of the collectives in the group. `firstUse` is the index of the
  // first op that reads a result of the group. The call takes the place of the
  // last collective in the group. Therefore a collective can join the group
  // only if it comes before the op with the index `firstUse`.
  struct OpenBucket {
    std::vector<size_t> calls;
    size_t firstUse;
  };
  std::vector<std::vector<size_t>> buckets;
  std::map<size_t, OpenBucket> openOfKind;
  auto close = [&](OpenBucket &open) {
    if (open.calls.size() > 1)
      buckets.push_back(std::move(open.calls));
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    const CollectiveCall &call = calls[i];
    auto [entry, isNew] =
        openOfKind.try_emplace(call.kind, OpenBucket{{i}, call.firstUse});
    OpenBucket &open = entry->second;
    if (isNew)
      continue;
    // One call executes all collectives of the bucket `open`, at the place of
    // the last collective in the program. If `call` joined the bucket, this
    // would be the place of `call`. `call` can therefore join only if no op up
    // to this place reads a result of the bucket.
    if (call.place >= open.firstUse) {
      close(open);
      open = {{i}, call.firstUse};
      continue;
    }
    open.calls.push_back(i);
    open.firstUse = std::min(open.firstUse, call.firstUse);
  }
  for (auto &[kind, open] : openOfKind)
    close(open);
  return buckets;
}

bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond) {
  assert(memoryBytesPerSecond > 0 && "memory without bandwidth");
  const double call = callSeconds > 0 ? callSeconds : assumedCallSeconds;
  const double packing =
      2 * (operandBytes + resultBytes) / memoryBytesPerSecond;
  return packing <= call / 2;
}

} // namespace pcc::plan
