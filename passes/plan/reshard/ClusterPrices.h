//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh`, except the
/// time axis (the microbatches). Two neighbours along an axis are as many ranks
/// apart as the more minor axes have ranks together: in mesh {dp=2, tp=4},
/// neighbours along tp are 1 rank apart, and neighbours along dp are 4 ranks
/// apart. The price is that of the network link that covers such a group.
/// Measured curves of the cluster (Cluster::collectives) are not used.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns the prices for the cluster file with the text `clusterText`. A field
/// that the file lacks has the value of the built-in profile of `target`. If
/// the text is empty, there is no cluster, and the price of a collective is the
/// number of bytes that a rank receives.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
