//===- RankGroup.cpp - ranks that communicate, and the network under them -===//

#include "passes/plan/cluster/RankGroup.h"

#include <algorithm>

namespace pcc::plan {

RankGroup::RankGroup(std::vector<RankDim> all) : dims(std::move(all)) {
  std::erase_if(dims, [](const RankDim &dim) { return dim.size < 2; });
  std::sort(dims.begin(), dims.end(),
            [](const RankDim &left, const RankDim &right) {
              return left.stride < right.stride;
            });
}

int64_t RankGroup::sizeWithin(int64_t span) const {
  int64_t count = 1;
  for (const RankDim &dim : dims) {
    const int64_t own = std::clamp<int64_t>(span / dim.stride, 1, dim.size);
    count *= own;
    if (own < dim.size)
      break;
  }
  return count;
}

} // namespace pcc::plan
