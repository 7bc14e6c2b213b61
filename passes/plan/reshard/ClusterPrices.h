//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the latency and the bandwidth of communication along each axis of
/// `mesh`, except the time axis (microbatches). Both belong to the network link
/// over which the ranks along the axis communicate (Cluster::linkFor()).
/// Ignores measured times of collectives.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns the prices of communication along the axes of `mesh`. `clusterText`,
/// the text of a cluster file, must be valid or empty. If the text is empty,
/// prices are received bytes. Otherwise, prices are seconds. Fields that the
/// file lacks have the values of the built-in cluster of `target` ("cpu" or
/// "cuda").
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
