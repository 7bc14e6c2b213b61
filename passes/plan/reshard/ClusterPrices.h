//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh`, except the
/// time axis, whose coordinates are microbatches. The price is the latency and
/// the bandwidth of a network link, such as NVLink in a node. A link connects a
/// number of consecutive ranks (its span). The function takes the link with the
/// smallest sufficient span, or else the link with the largest span. An axis of
/// size n needs the span d * n if neighboring ranks along the axis have the
/// distance d. Example: in the mesh {dp=2, tp=4}, tp needs the span 1 * 4, and
/// dp needs 4 * 2. The function does not use measured times of a cluster file.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns prices of communication along the axes of `mesh`. `clusterText` is
/// the text of a cluster file, which describes machines and network. The text
/// must be valid or empty. If the text is not empty, prices are seconds, and
/// each axis except the time axis (microbatches) has a latency and a bandwidth.
/// A field that the text does not set has its value from the built-in cluster
/// of `target` ("cpu" or "cuda"). If the text is empty, the price of a
/// collective is the number of bytes that a rank receives.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
