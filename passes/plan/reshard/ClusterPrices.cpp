//===- ClusterPrices.cpp - prices of mesh axes from a cluster's links -----===//

#include "passes/plan/reshard/ClusterPrices.h"

namespace pcc::plan {

Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh) {
  Prices prices;
  prices.cluster = cluster;
  const dist::Mesh ranks = mesh.spatial();
  // The loop goes from the most minor axis to the most major one. `stride` is
  // the distance, in ranks, of two neighbors along the axis.
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
