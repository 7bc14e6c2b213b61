//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh` except the time
/// axis. It is the price of a network link: the narrowest one that spans all
/// ranks along the axis (Cluster::linkFor). Measured curves of collectives are
/// not used.
///
/// In mesh {dp=2, tp=4}, the ranks along tp are 1 apart and need a link of span
/// 4. The ranks along dp are 4 apart and need a link of span 8.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns the price of communication along each axis of `mesh`. `clusterText`
/// is the text of a cluster file, which describes the machines and the network.
/// A field that it lacks has its value in the built-in profile of `target`. If
/// the text is empty, a price is the number of bytes that a rank receives.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
