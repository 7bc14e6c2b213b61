//===- Buckets.cpp - bucketing of small collectives into one call ---------===//

#include "passes/plan/memory/Buckets.h"

#include <algorithm>
#include <map>

namespace pcc::plan {

std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls) {
  // A bucket that can take further calls, as long as they come before
  // `firstUse`, the first op that reads any of its results.
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
    // A result of the bucket is read before this call, so the bucket must be
    // executed before it.
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
  const double call = callSeconds > 0 ? callSeconds : assumedCallSeconds;
  const double packing =
      2 * (operandBytes + resultBytes) / memoryBytesPerSecond;
  return packing <= call / 2;
}

} // namespace pcc::plan
