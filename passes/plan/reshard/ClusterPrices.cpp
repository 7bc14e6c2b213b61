//===- ClusterPrices.cpp - prices of mesh axes from a cluster's links -----===//

#include "passes/plan/reshard/ClusterPrices.h"

namespace pcc::plan {

Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh) {
  Prices prices;
  prices.cluster = cluster;
  const dist::Mesh ranks = mesh.spatial();
  // `stride` is the difference between the numbers of two neighboring ranks
  // along a mesh axis. The last axis of the mesh has the stride 1. The stride
  // of any other axis is the product of the sizes of all axes after it.
  // Therefore, the loop goes from the last axis to the first axis. For example,
  // in the mesh {dp=2, tp=4}, the stride of tp is 1, and the stride of dp is 4.
  int64_t stride = 1;
  for (size_t i = ranks.axes.size(); i-- > 0;) {
    const dist::Axis &axis = ranks.axes[i];
    const Link &link =
        cluster.linkFor(static_cast<int>(stride), static_cast<int>(axis.size));
    prices.axes[axis.name] = {link.alpha, 1 / link.bytesPerSecond};
    stride *= axis.size;
  }
  return prices;
}

Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh) {
  if (clusterText.empty())
    return {};
  return pricesOf(clusterOf(clusterText, target), mesh);
}

} // namespace pcc::plan
