//===- ClusterPrices.cpp - prices of communication over mesh axes ---------===//

#include "passes/plan/reshard/ClusterPrices.h"

#include <algorithm>

namespace pcc::plan {

RankGroup groupOf(const dist::SubAxes &axes, const dist::Mesh &mesh) {
  std::vector<RankDim> dims;
  // The last axis of the mesh has the stride 1. The stride of any other axis is
  // the product of the sizes of all axes after it. Example: in the mesh {dp=2,
  // tp=4}, the stride of dp is 4.
  int64_t stride = 1;
  const dist::Mesh ranks = mesh.spatial();
  for (auto axis = ranks.axes.rbegin(); axis != ranks.axes.rend(); ++axis) {
    for (const dist::SubAxis &part : axes)
      if (part.axis == axis->name)
        dims.push_back({part.size, stride * axis->size / part.end()});
    stride *= axis->size;
  }
  return RankGroup(std::move(dims));
}

Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh) {
  if (clusterText.empty())
    return {};
  return {clusterOf(clusterText, target), mesh};
}

} // namespace pcc::plan
