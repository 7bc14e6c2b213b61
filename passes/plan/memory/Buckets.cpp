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
  // A bucket that further calls may join. A call must come before `firstUse`,
  // the index of the first op that reads a result of the bucket.
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
    // `open` is the current bucket: a group of collectives that one call
    // executes. `open.firstUse` is the index of the first op that reads a
    // result of this group. If `call` is this op or comes after this op, `call`
    // cannot join the group. The code then ends the group and begins a new
    // group with `call`.
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
