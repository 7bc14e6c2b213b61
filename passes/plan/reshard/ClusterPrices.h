//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh`, except the
/// time axis. Neighbours along an axis are as many ranks apart as the more
/// minor axes have ranks together: in mesh {dp=2, tp=4}, ranks of a tp group
/// are 1 apart and ranks of a dp group 4. The price is that of the link that
/// such a group uses. Measured curves of the cluster (`collectives`) are not
/// used.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns the prices for the cluster file `clusterText`, with the profile of
/// `target` for the fields that the file lacks. If the text is empty, the
/// prices are received bytes, without a cluster.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
