//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh`, except the
/// time axis (the microbatches). It is the price of the network link with the
/// least span that connects all ranks along the axis. Measured curves of the
/// cluster (Cluster::collectives) are not used.
///
/// The last axis is the most minor one. In mesh {dp=2, tp=4}, neighbours along
/// tp are 1 rank apart, and neighbours along dp are 4 ranks apart.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns the prices for the cluster file with the text `clusterText`. A field
/// that the file lacks has the value of the built-in profile of `target`. If
/// the text is empty, the price of a collective is the number of bytes that a
/// rank receives.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
